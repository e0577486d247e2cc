import LarderSystem
import Synchronization

/// The records of the keys of one resource: see ``KeyState``.
///
/// The variants of a key share its record. A record exists while it says something. When too many do, those are forgotten
/// that changed longest ago, unless something is under way for their key. Records that hide a copy are forgotten last.
///
/// The stores of a resource share the table, because a former store may still write to the same place.
///
/// Code that holds the lock of a shard must not release a ``Ticket``, which takes the lock when it is released.
package final class KeyTable: TicketOrder {
    private final class Shards: Sendable {
        let all = (0..<shardCount).map { _ in Locked(Shard()) }
    }

    private struct Shard {
        var records: [Key: KeyState] = [:]
        /// The number of changes so far.
        var changes: UInt64 = 0
        /// The number of records whose copies cannot be shown as they are.
        var unusual = 0
        /// The number of records at which the oldest are forgotten.
        var limit = capacity
    }

    /// A power of two.
    private static let shardCount = 8
    /// The number of records in a shard at which the oldest are forgotten.
    private static let capacity = 4_096

    /// The records, once there was one. Most of many resources are not used all the time.
    private let made = AtomicLazyReference<Shards>()
    /// The next number of a call, clearing or store.
    private let next = Atomic<UInt64>(1)
    /// A bit for each shard with unusual records, and ``selectionBit``.
    private let unusual = Atomic<UInt64>(0)
    /// The numbers of records with these marks.
    private let failures = Atomic(0)
    private let prefetches = Atomic(0)
    private let postponed = Atomic(0)
    /// The number of stores that hide selections of copies.
    private let hiding = Locked(0)
    /// The clearings under way, by the numbers under which they began.
    let clearings = Locked<[UInt64: Selection]>([:])
    /// The failures of the origin, whatever the key.
    let outage = Locked(Outage())
    /// Is called when the refresh of a key begins to wait.
    let whenPostponed = Locked<(@Sendable () -> Void)?>(nil)
    /// The clearings of other processes; nil if there are none.
    let others: ResourceClearings?

    package convenience init() { self.init(seeing: nil) }

    /// - Parameter others: the clearings of other processes; nil if there are none.
    init(seeing others: ResourceClearings?) {
        self.others = others
    }

    /// Returns the next number of a call, a clearing or a store.
    func number() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }

    // MARK: Quick looks, which take no lock

    /// Whether the copies of all keys are under the keys of their requests, and none is hidden.
    @inline(__always)
    var isUsual: Bool { unusual.load(ordering: .relaxed) == 0 }

    /// Whether some keys rest.
    var hasFailures: Bool { failures.load(ordering: .relaxed) > 0 }

    /// Whether something is known about prefetched copies.
    var hasPrefetches: Bool { prefetches.load(ordering: .relaxed) > 0 }

    /// The number of keys with a refresh that waits.
    var postponedRefreshes: Int { postponed.load(ordering: .relaxed) }

    /// Returns whether a key may have a record that hides or redirects its copy.
    func mayBeUnusual(_ key: Key) -> Bool {
        let bits = unusual.load(ordering: .relaxed)
        return bits != 0 && bits & (Self.selectionBit | 1 << UInt64(index(of: key))) != 0
    }

    /// The bit that says that selections of copies are hidden.
    private static let selectionBit: UInt64 = 1 << 63

    /// Notes that a store begins, or ceases, to hide selections of copies.
    func hidesSelections(_ hides: Bool) {
        hiding.withLock { stores in
            stores += hides ? 1 : -1
            if stores > 0 {
                unusual.bitwiseOr(Self.selectionBit, ordering: .relaxed)
            } else {
                unusual.bitwiseAnd(~Self.selectionBit, ordering: .relaxed)
            }
        }
    }

    // MARK: Records

    private var shards: [Locked<Shard>] { made.load()?.all ?? [] }

    private func index(of key: Key) -> Int { key.base.hash & (Self.shardCount - 1) }

    /// Reads the record of a key. Returns nil if there is none, or if `read` does.
    func read<Result>(_ key: Key, _ read: (KeyState) -> Result?) -> Result? {
        let base = key.base
        return made.load()?.all[index(of: base)].withLock { $0.records[base].flatMap(read) }
    }

    /// Changes the record of a key, which is made if there is none.
    func change<Result>(_ key: Key, _ change: (KeyState) -> Result) -> Result {
        let base = key.base
        let shards = made.load() ?? made.storeIfNil(Shards())
        return shards.all[index(of: base)].withLock { shard in
            let state = shard.records[base] ?? add(base, to: &shard)
            defer { noteChange(of: state, in: &shard) }
            return change(state)
        }
    }

    /// Works on the turns of a key of which there is a ticket, which needs no search.
    @inline(__always)
    func withTurns<Result>(of writes: KeyWrites, _ body: (KeyWrites) -> Result) -> Result {
        shards[index(of: writes.key)].withLock { _ in body(writes) }
    }

    /// Changes all records for which `isMeant` is true, shard by shard.
    func changeAll(where isMeant: (KeyState) -> Bool = { _ in true }, _ change: (KeyState) -> Void) {
        for shard in shards {
            shard.withLock { shard in
                for state in shard.records.values where isMeant(state) {
                    change(state)
                    noteChange(of: state, in: &shard)
                }
            }
        }
    }

    /// Returns what `pick` returns for the records, in the order of their keys: the order of a dictionary varies, and a
    /// replayed history must be the same.
    func all<Picked>(_ pick: (KeyState) -> Picked?) -> [Picked] {
        shards.flatMap { shard in
            shard.withLock { shard in shard.records.values.compactMap { state in pick(state).map { (state.key, $0) } } }
        }.sorted { $0.0.text < $1.0.text }.map(\.1)
    }

    /// Forgets what is known of a store that is not used any more.
    func forget(store: UInt64) {
        changeAll(where: { $0.knows(store) }) { $0.forget(store) }
    }

    /// Takes back a ticket.
    func end(_ writes: KeyWrites) {
        shards[index(of: writes.key)].withLock { shard in
            writes.tickets -= 1
            if writes.tickets == 0, let state = shard.records[writes.key] { noteChange(of: state, in: &shard) }
        }
    }

    private func add(_ key: Key, to shard: inout Shard) -> KeyState {
        if shard.records.count >= shard.limit { forgetOldest(&shard) }
        let state = KeyState(key)
        shard.records[key] = state
        return state
    }

    /// Forgets the older half of the records for whose keys nothing is under way, those that hide a copy last.
    private func forgetOldest(_ shard: inout Shard) {
        let idle = shard.records.values.filter { !$0.isUnderWay }
            .sorted { ($0.hidesCopy ? 1 : 0, $0.changed) < ($1.hidesCopy ? 1 : 0, $1.changed) }
        for state in idle.prefix((idle.count + 1) / 2) {
            mark(state, [], in: &shard)
            shard.records[state.key] = nil
        }
        shard.limit = max(Self.capacity, shard.records.count * 2)
    }

    private func noteChange(of state: KeyState, in shard: inout Shard) {
        shard.changes += 1
        state.changed = shard.changes
        let marks = state.presentMarks
        if marks != state.marks { mark(state, marks, in: &shard) }
        if marks.isEmpty, !state.isUnderWay {
            shard.records[state.key] = nil
            // The limit is higher only while more keys are under way.
            if shard.records.count < Self.capacity { shard.limit = Self.capacity }
        }
    }

    /// Counts the marks of a record that have changed.
    private func mark(_ state: KeyState, _ marks: KeyState.Marks, in shard: inout Shard) {
        let former = state.marks
        state.marks = marks
        func change(_ mark: KeyState.Marks) -> Int { (marks.contains(mark) ? 1 : 0) - (former.contains(mark) ? 1 : 0) }
        failures.add(change(.failed), ordering: .relaxed)
        prefetches.add(change(.prefetched), ordering: .relaxed)
        postponed.add(change(.postponed), ordering: .relaxed)
        if change(.unusual) == 0 { return }
        shard.unusual += change(.unusual)
        // The bit of a shard is changed only under the lock of the shard.
        let bit: UInt64 = 1 << UInt64(index(of: state.key))
        if shard.unusual > 0 {
            unusual.bitwiseOr(bit, ordering: .relaxed)
        } else {
            unusual.bitwiseAnd(~bit, ordering: .relaxed)
        }
    }
}
