import LarderSystem

/// The copies in one store that were prefetched and not used yet: decides for each whether it ends as used or as wasted.
///
/// A copy is used when it first answers a user's load. It is wasted when it is removed or replaced before that. Each
/// copy that was saved is counted once as either, or still waits. The entry in the store has a mark as long as it
/// waits: ``Metadata/isUnusedPrefetch``. So hits on other entries need not ask here, and a later run goes on where this
/// one ends.
///
/// It decides without I/O: ``StoreAccess/settle(_:)`` asks the store.
struct PrefetchedCopies: Sendable {
    /// The next step for a copy in the store.
    enum Step: Equatable, Sendable {
        case nothing
        case takeMarkOff
    }

    typealias Event = PrefetchedCopy.Event
    private typealias Arrival = PrefetchedCopy.Arrival

    private let keys: KeyTable
    /// The number of the store.
    private let store: UInt64

    init(in keys: KeyTable, of store: UInt64) {
        self.keys = keys
        self.store = store
    }

    /// Whether nothing is known about any copy. Takes no lock.
    var isEmpty: Bool { !keys.hasPrefetches }

    /// Returns whether something is known about the copy under a key.
    func knows(_ key: Key) -> Bool { copy(at: key) != nil }

    private func copy(at key: Key) -> PrefetchedCopy? {
        isEmpty ? nil : keys.read(key) { $0[key].prefetched.first { $0.store == store } }
    }

    /// The keys of the copies that wait.
    var waiting: [Key] {
        if isEmpty { return [] }
        return keys.all { state in
            state.entryKeys.filter { state[$0].prefetched.contains { $0.store == store && $0.stage == .waiting } }
                .sorted { $0.text < $1.text }
        }.flatMap(\.self)
    }

    private func change<Result>(_ key: Key, _ change: (inout PrefetchedCopy?) -> Result) -> Result {
        keys.change(key) { state in
            var copies = state[key].prefetched
            var copy = copies.first { $0.store == store }
            defer {
                copies.removeAll { $0.store == store }
                state[key].prefetched = copies + [copy].compactMap(\.self)
            }
            return change(&copy)
        }
    }

    // MARK: What happens to copies

    /// Notes that an entry was written, or its metadata renewed, in the turn of its key.
    func wrote(_ metadata: Metadata, size: Int, at key: Key) -> [Event] {
        change(key) { copy in
            let former = copy
            if let former, former.arrival == Arrival(metadata) {
                guard former.stage == .unsettled, metadata.isUnusedPrefetch else { return [] }
                copy?.stage = .used
                return [.saved(size), .used(size)]
            }
            guard metadata.isUnusedPrefetch else {
                copy = nil
                return former?.end ?? []
            }
            copy = PrefetchedCopy(metadata, size: size, in: store)
            return (former?.end ?? []) + [.saved(size)]
        }
    }

    /// Notes that there is no entry under a key any more.
    func removed(_ key: Key) -> [Event] {
        if !knows(key) { return [] }
        return change(key) { $0.take()?.end ?? [] }
    }

    /// Notes that the selected entries were removed.
    func removed(_ selection: Selection) -> [Event] {
        var events: [Event] = []
        keys.changeAll(where: { $0.marks.contains(.prefetched) }) { state in
            for key in state.entryKeys {
                let gone = state[key].prefetched.filter { $0.store == store && selection.concerns(key, tags: $0.tags) }
                if gone.isEmpty { continue }
                events += gone.flatMap(\.end)
                state[key].prefetched.removeAll { $0.store == store }
            }
        }
        return events
    }

    /// Notes that a marked copy has answered a user's load.
    ///
    /// - Returns: the events, and whether the copy must be settled.
    func used(_ metadata: Metadata, size: Int, at key: Key) -> (events: [Event], isOpen: Bool) {
        change(key) { copy in
            guard let known = copy, known.arrival == Arrival(metadata) else {
                // Its successor is known, so that this one is gone, or it is a copy of an earlier run.
                if copy != nil { return ([], false) }
                copy = PrefetchedCopy(metadata, size: size, stage: .unsettled, in: store)
                return ([], true)
            }
            guard known.stage == .waiting else { return ([], false) }
            copy?.stage = .used
            return ([.used(known.size)], true)
        }
    }

    /// Compares a copy with the entry that the store has under its key now, in the turn of the key.
    ///
    /// - Parameter entry: the metadata and the size of the entry; nil if there is none.
    func settle(_ key: Key, _ entry: (metadata: Metadata, size: Int)?) -> (events: [Event], step: Step) {
        change(key) { copy in
            let known = copy
            guard let entry else {
                copy = nil
                return (known?.end ?? [], .nothing)
            }
            let isSame = known?.arrival == Arrival(entry.metadata)
            guard entry.metadata.isUnusedPrefetch else {
                copy = nil
                // Without its mark, the copy was used by another process, which has counted it.
                return (isSame ? [] : known?.end ?? [], .nothing)
            }
            guard isSame, let known else {
                copy = PrefetchedCopy(entry.metadata, size: entry.size, in: store)
                return (known?.end ?? [], .nothing)
            }
            if known.stage == .waiting { return ([], .nothing) }
            copy?.stage = .used
            return (known.stage == .unsettled ? [.used(entry.size)] : [], .takeMarkOff)
        }
    }

    /// Notes that the mark of a used copy was taken off, in the turn of its key.
    func markIsOff(_ key: Key) {
        change(key) { copy in if copy?.stage == .used { copy = nil } }
    }

    /// Returns whether an entry that the origin has confirmed keeps its mark; nil if the store must be asked.
    func keepsMark(_ metadata: Metadata, at key: Key) -> Bool? {
        guard let copy = copy(at: key), copy.arrival == Arrival(metadata) else { return nil }
        return copy.stage == .waiting
    }
}
