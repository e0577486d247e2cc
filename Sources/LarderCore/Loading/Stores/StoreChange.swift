/// A change that others made to the entries of a store.
public struct StoreChange: Sendable {
    /// The entries that were written or removed.
    public var selection: Selection
    private let discardAction: @Sendable (Selection) async throws -> Void

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - selection: the entries that were written or removed.
    ///   - discarding: removes the store's own copies of the entries that it is given. These are the selected ones, or all
    ///     entries that any change of this store may have named, if too many changes wait. A store with faster tiers above
    ///     the one that was changed passes it. The graph calls it in order with its own writes, so that a copy that was
    ///     read before the change is not promoted after it.
    public init(
        _ selection: Selection, discarding: @escaping @Sendable (Selection) async throws -> Void = { _ in }
    ) {
        self.selection = selection
        discardAction = discarding
    }

    /// Removes the store's copies that the change has made out of date.
    ///
    /// - Throws: the error of the tier that failed.
    public func discard() async throws { try await discardAction(selection) }

    /// A change of all entries, which takes the place of many changes of the same store.
    public var ofAllEntries: StoreChange { StoreChange(.all, discarding: discardAction) }
}

// MARK: Streams

extension StoreChange {
    /// Returns a stream for ``Store/changes``, and the continuation to which a store sends its changes.
    ///
    /// The stream keeps the last `most` changes that the graph has not taken. Use
    /// `AsyncStream.Continuation.send(_:)` to send changes, so that none is lost if there are more.
    public static func makeStream(
        keeping most: Int = 1_000
    ) -> (stream: AsyncStream<StoreChange>, continuation: AsyncStream<StoreChange>.Continuation) {
        AsyncStream.makeStream(of: StoreChange.self, bufferingPolicy: .bufferingNewest(max(2, most)))
    }
}

extension AsyncStream<StoreChange>.Continuation {
    /// Sends a change to a stream of ``StoreChange/makeStream(keeping:)``. If the oldest change must make room, a change
    /// of all entries takes its place at the end of the stream.
    public func send(_ change: StoreChange) {
        guard case .dropped(let oldest) = yield(change) else { return }
        // The change that is left out to make room for this one needs no place: this one includes it.
        yield(oldest.ofAllEntries)
    }
}
