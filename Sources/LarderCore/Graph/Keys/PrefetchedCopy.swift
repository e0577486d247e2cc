import LarderSystem

/// A prefetched copy in one store that was not used yet.
struct PrefetchedCopy: Sendable {
    enum Stage: Sendable {
        case waiting
        /// It is counted as used, and the mark is being taken off.
        case used
        /// A user's load was answered by it, but it is not known to be kept.
        case unsettled
    }

    /// Identifies the arrival of a payload, as ``Metadata/isOfSamePayload(as:)`` does.
    struct Arrival: Hashable, Sendable {
        let fetchedAt: Timestamp
        let spread: Double

        init(_ metadata: Metadata) { (fetchedAt, spread) = (metadata.fetchedAt, metadata.spread) }
    }

    /// A change to count, with the size of the payload in bytes.
    enum Event: Equatable, Sendable {
        case saved(Int)
        case used(Int)
        case wasted(Int)
    }

    /// The number of the store.
    let store: UInt64
    let arrival: Arrival
    let size: Int
    let tags: [String]
    var stage = Stage.waiting

    init(_ metadata: Metadata, size: Int, stage: Stage = .waiting, in store: UInt64) {
        self.store = store
        arrival = Arrival(metadata)
        self.size = size
        tags = metadata.tags
        self.stage = stage
    }

    /// The event when it is removed or replaced.
    var end: [Event] { stage == .waiting ? [.wasted(size)] : [] }
}
