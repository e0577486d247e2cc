/// What a plugin tells the lint rules about itself, given its settings, so that contradictions between plugins are found
/// before anything runs. Whatever it leaves out is not judged.
public struct Traits: Sendable {
    /// Wrapper or store: when it gives a call up. A store's `limit` is told for it.
    public var givesUpAfter: Duration?
    /// Wrapper: how often it may try, and how long it waits between the tries altogether.
    public var tries: (count: Int, waits: Duration)?
    /// Origin: it cannot fail, so what comes after it is never reached.
    public var cannotFail = false
    /// Origin: it is on this device, so it needs no timeout.
    public var isLocal = false
    /// Validator: how long it lets a copy be shown after it stopped being fresh.
    public var showsStaleFor: Duration?
    /// Validator: how long after it was fetched it lets a copy be shown at all.
    public var showsFor: Duration?
    /// Validator: it notices damaged payloads.
    public var noticesDamage = false
    /// Store: how many bytes it may keep.
    public var capacity: Int?
    /// Store: how long it keeps an entry at most.
    public var keepsFor: Duration?
    /// Store: it keeps nothing.
    public var keepsNothing = false
    /// Store: its entries leave the process's memory.
    public var isForeign = false
    /// Store: the name of what it writes to in the resource's cache folder, which it shares with nobody.
    public var writesTo: String?
    /// Strategy: how long it waits before a copy stands in.
    public var patience: Duration?
    /// Strategy: how long a key's origin is left alone after a failure. The setting `rest` is told for it.
    public var rest: Duration?
    /// Whether all of it is known to come from the policy and nothing from the environment.
    var mayBeShown = false

    /// Nothing to tell.
    public init() {}

    /// The same traits after a change.
    public func with(_ change: (inout Traits) -> Void) -> Traits {
        var copy = self
        change(&copy)
        return copy
    }
}
