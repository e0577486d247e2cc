/// An entry that a store in memory has let go without being asked to.
public struct Forgotten: Sendable {
    /// Why an entry is forgotten.
    public enum Reason: String, Sendable {
        /// The store was full.
        case capacity
        /// It was older than the store keeps anything.
        case age
        /// Memory is short: see ``Pantry/relieve()``.
        case pressure
    }

    /// What it was kept under. It names the resource; and may hold what must not leave the process.
    public var key: Key
    /// The store or tier that kept it.
    public var tier: String
    /// Why it went.
    public var reason: Reason
}
