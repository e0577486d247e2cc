import LarderSystem
import Synchronization

/// The copies that were prefetched and not used yet: decides for each whether it ends as used or as wasted.
///
/// A copy is used when it first answers a user's load. It is wasted when it is removed or replaced before that. Each
/// copy that was saved is counted once as either, or still waits. The entry in the store has a mark as long as it
/// waits: ``Metadata/isUnusedPrefetch``. So hits on other entries need not ask here, and a later run goes on where this
/// one ends.
///
/// It decides without I/O: ``StoreAccess/settle(_:)`` asks the store.
final class PrefetchedCopies: Sendable {
    /// A change to count, with the size of the payload in bytes.
    enum Event: Equatable, Sendable {
        case saved(Int)
        case used(Int)
        case wasted(Int)
    }

    /// The next step for a copy in the store.
    enum Step: Equatable, Sendable {
        case nothing
        case takeMarkOff
    }

    private enum Stage {
        case waiting
        /// It is counted as used, and the mark is being taken off.
        case used
        /// A user's load was answered by it, but it is not known to be kept.
        case unsettled
    }

    /// Identifies the arrival of a payload, as ``Metadata/isOfSamePayload(as:)`` does.
    private struct Arrival: Hashable {
        let fetchedAt: Timestamp
        let spread: Double

        init(_ metadata: Metadata) { (fetchedAt, spread) = (metadata.fetchedAt, metadata.spread) }
    }

    private struct Copy {
        let arrival: Arrival
        let size: Int
        let tags: [String]
        var stage = Stage.waiting

        /// The event when it is removed or replaced.
        var end: [Event] { stage == .waiting ? [.wasted(size)] : [] }
    }

    private let copies = Locked<[Key: Copy]>([:])
    /// The number of copies, for a quick look.
    private let count = Atomic(0)

    /// Whether nothing is known about any copy. Takes no lock.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Returns whether something is known about the copy under a key.
    func knows(_ key: Key) -> Bool { !isEmpty && copies.withLock { $0[key] != nil } }

    /// The keys of the copies that wait.
    var waiting: [Key] {
        // Sorted, because the order of a dictionary varies and a replayed history must be the same.
        if isEmpty { return [] }
        return copies.withLock { $0.filter { $0.value.stage == .waiting }.map(\.key) }.sorted { $0.text < $1.text }
    }

    private func change<Result>(_ change: (inout [Key: Copy]) -> Result) -> Result {
        copies.withLock { copies in
            defer { count.store(copies.count, ordering: .relaxed) }
            return change(&copies)
        }
    }

    // MARK: What happens to copies

    /// Notes that an entry was written, or its metadata renewed, in the turn of its key.
    func wrote(_ metadata: Metadata, size: Int, at key: Key) -> [Event] {
        change { copies in
            let (former, arrival) = (copies[key], Arrival(metadata))
            if let former, former.arrival == arrival {
                guard former.stage == .unsettled, metadata.isUnusedPrefetch else { return [] }
                copies[key]?.stage = .used
                return [.saved(size), .used(size)]
            }
            guard metadata.isUnusedPrefetch else {
                copies[key] = nil
                return former?.end ?? []
            }
            copies[key] = Copy(arrival: arrival, size: size, tags: metadata.tags)
            return (former?.end ?? []) + [.saved(size)]
        }
    }

    /// Notes that there is no entry under a key any more.
    func removed(_ key: Key) -> [Event] { change { $0.removeValue(forKey: key)?.end ?? [] } }

    /// Notes that the selected entries were removed.
    func removed(_ selection: Selection) -> [Event] {
        change { copies in
            let gone = copies.filter { selection.concerns($0.key, tags: $0.value.tags) }
            for key in gone.keys { copies[key] = nil }
            return gone.values.flatMap(\.end)
        }
    }

    /// Notes that a marked copy has answered a user's load.
    ///
    /// - Returns: the events, and whether the copy must be settled.
    func used(_ metadata: Metadata, size: Int, at key: Key) -> (events: [Event], isOpen: Bool) {
        change { copies in
            guard let copy = copies[key], copy.arrival == Arrival(metadata) else {
                // Its successor is known, so that this one is gone, or it is a copy of an earlier run.
                if copies[key] != nil { return ([], false) }
                copies[key] = Copy(
                    arrival: Arrival(metadata), size: size, tags: metadata.tags, stage: .unsettled)
                return ([], true)
            }
            guard copy.stage == .waiting else { return ([], false) }
            copies[key]?.stage = .used
            return ([.used(copy.size)], true)
        }
    }

    /// Compares a copy with the entry that the store has under its key now, in the turn of the key.
    ///
    /// - Parameter entry: the metadata and the size of the entry; nil if there is none.
    func settle(_ key: Key, _ entry: (metadata: Metadata, size: Int)?) -> (events: [Event], step: Step) {
        change { copies in
            let copy = copies[key]
            guard let entry else {
                copies[key] = nil
                return (copy?.end ?? [], .nothing)
            }
            let isSame = copy?.arrival == Arrival(entry.metadata)
            guard entry.metadata.isUnusedPrefetch else {
                copies[key] = nil
                // Without its mark, the copy was used by another process, which has counted it.
                return (isSame ? [] : copy?.end ?? [], .nothing)
            }
            guard isSame, let copy else {
                copies[key] = Copy(
                    arrival: Arrival(entry.metadata), size: entry.size, tags: entry.metadata.tags)
                return (copy?.end ?? [], .nothing)
            }
            if copy.stage == .waiting { return ([], .nothing) }
            copies[key]?.stage = .used
            return (copy.stage == .unsettled ? [.used(entry.size)] : [], .takeMarkOff)
        }
    }

    /// Notes that the mark of a used copy was taken off, in the turn of its key.
    func markIsOff(_ key: Key) {
        change { copies in if copies[key]?.stage == .used { copies[key] = nil } }
    }

    /// Returns whether an entry that the origin has confirmed keeps its mark; nil if the store must be asked.
    func keepsMark(_ metadata: Metadata, at key: Key) -> Bool? {
        copies.withLock { copies in
            guard let copy = copies[key], copy.arrival == Arrival(metadata) else { return nil }
            return copy.stage == .waiting
        }
    }
}
