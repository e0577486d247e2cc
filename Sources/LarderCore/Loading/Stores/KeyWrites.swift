import LarderSystem

/// The tickets and the writes of one key: the part of its record that a load holds.
///
/// This is a class so that a ticket leads to it without a search, and that it is changed in its place.
///
/// `@unchecked Sendable`: its variables are read and changed only under the lock of the table it belongs to.
class KeyWrites: @unchecked Sendable {
    /// An operation that waits for its turn.
    struct Waiter {
        /// Resumed with whether the operation has the turn.
        let task: Suspension<Bool>
        /// Whether it also waits for operations that were given up.
        let isPatient: Bool
    }

    /// The consequences of the end of a turn, to be carried out without the lock.
    struct TurnEnd {
        var next: Suspension<Bool>?
        var postponed: (@Sendable () -> Void)?
        var claim: ByteClaim?

        func carryOut() {
            claim?.release()
            next?.resume(returning: true)
            postponed?()
        }
    }

    let key: Key
    var tickets = 0
    var writes: UInt64 = 0
    var newest: UInt64 = 0
    /// The newest answers of variants, at most ``variantCapacity`` of them.
    var newestVariants: [Key: UInt64] = [:]
    /// The newest answer of all variants that are not remembered any more.
    var newestForgotten: UInt64 = 0
    var cleared: UInt64 = 0
    var clearedTags: [String: UInt64] = [:]
    var isBusy = false
    /// Whether the turn belongs to operations that were given up and have not ended.
    private(set) var isHeldUp = false
    var queue: [Waiter] = []
    /// The claim of the operation that has the turn, for which clearings by other processes wait.
    var claim: ByteClaim?
    /// The newest operation that found the turn held up, with the sequence number of its call. It begins when the turn
    /// is free.
    var postponed: (sequence: UInt64, begin: @Sendable () -> Void)?

    /// The number of variants of one key whose newest answers are remembered.
    private static let variantCapacity = 1_000

    init(_ key: Key) { self.key = key }

    /// Remembers that the answer of a call was written under `entryKey`, which is the key or a variant of it. Forgets
    /// another variant if there are too many.
    func wrote(_ entryKey: Key, _ sequence: UInt64) {
        guard entryKey.isVariant else { return newest = sequence }
        newestVariants[entryKey] = sequence
        guard newestVariants.count > Self.variantCapacity,
            let oldest = newestVariants.min(by: { $0.value < $1.value })
        else { return }
        newestVariants[oldest.key] = nil
        newestForgotten = oldest.value
    }

    /// Returns the newest answer that was written under `entryKey`, or that concerns it.
    func newest(at entryKey: Key) -> UInt64 {
        if newestVariants.isEmpty { return max(newest, newestForgotten) }
        return max(newest, newestVariants[entryKey] ?? newestForgotten)
    }

    /// Returns whether an entry with these tags was cleared since a load began.
    func isCleared(_ tags: [String], since load: UInt64) -> Bool {
        cleared > load || !clearedTags.isEmpty && tags.contains { clearedTags[$0] ?? 0 > load }
    }

    /// Takes the turn if it is free.
    func takeTurn() -> Bool {
        if isBusy { return false }
        isBusy = true
        return true
    }

    /// Leaves the turn to operations that were given up.
    ///
    /// - Returns: the waiters that do not wait for these operations.
    func holdUp() -> [Waiter] {
        isHeldUp = true
        defer { queue.removeAll { !$0.isPatient } }
        return queue.filter { !$0.isPatient }
    }

    /// Gives the turn to the operation that has waited longest.
    func endTurn() -> TurnEnd {
        var end = TurnEnd(claim: claim)
        claim = nil
        if isHeldUp {
            isHeldUp = false
            end.postponed = postponed?.begin
            postponed = nil
        }
        if queue.isEmpty { isBusy = false } else { end.next = queue.removeFirst().task }
        return end
    }
}
