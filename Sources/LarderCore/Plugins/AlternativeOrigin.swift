/// An origin that is called in place of the policy's own origin on some networks: for example one with smaller images.
///
/// A section declares it: see ``Traits/alternative``. The policy's wrappers go around both origins, each with a state of its
/// own.
///
/// The load decides when it begins. Its request gets the field `Save-Data: on`, which the origin may send on. An app
/// can set this field itself: `on` asks the alternative on any network, and `off` asks the policy's own origin.
///
/// Copies of the two origins are kept side by side, as variants by this field, and each can take the place of the other:
///
/// - While the alternative is called, a fresh copy of the policy's own origin needs no call. Of two fresh copies, the newer one
///   is shown.
/// - While the policy's own origin is called, a copy of the alternative counts as stale.
/// - When stale copies may be shown, the one that is permitted for the better use is shown, or the newer one.
public struct AlternativeOrigin: Sendable {
    /// The origin.
    public let part: Part
    /// Whether it is called on a network.
    public let isCalled: @Sendable (NetworkState) -> Bool

    /// Creates the declaration of an origin.
    ///
    /// - Parameter isCalled: returns whether the origin is called on a network. It is asked for every load, also for a
    ///   hit in memory, so it must be quick.
    public init(_ part: Part, when isCalled: @escaping @Sendable (NetworkState) -> Bool) {
        self.part = part
        self.isCalled = isCalled
    }
}
