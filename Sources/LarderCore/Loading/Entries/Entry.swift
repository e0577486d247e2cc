public import LarderFoundation

/// A payload and its metadata. Stores keep entries.
public struct Entry: Sendable {
    /// The bytes and the values that were decoded from them.
    public var payload: Payload
    /// The facts about the payload.
    public var metadata: Metadata

    /// Creates an entry of `bytes`.
    public init(_ bytes: Data, _ metadata: Metadata = Metadata()) {
        self.payload = Payload(bytes)
        self.metadata = metadata
    }

    /// The size of the entry in a store with a capacity in bytes: the payload, the cost of its decoded values, the
    /// texts of the metadata, and a fixed overhead.
    public var weight: Int {
        payload.weight + Self.overhead + metadata.size
    }

    /// The fixed part of an entry's weight, in bytes: about what a short key, its payload's objects, its place in a table and
    /// the state of an eviction take in memory.
    static let overhead = 420
}
