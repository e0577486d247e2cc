import LarderBase

/// The tickets and the writes of one key. It exists while there is a ticket.
///
/// This is a class so that a ticket leads to it without a search, and that it is changed in its place.
///
/// `@unchecked Sendable`: its variables are read and changed only under the lock of the ``WriteOrder`` it belongs to.
final class KeyWrites: @unchecked Sendable {
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
    var queue: [CheckedContinuation<Void, Never>] = []

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

    /// Takes the turn if it is free.
    func takeTurn() -> Bool {
        if isBusy { return false }
        isBusy = true
        return true
    }

    /// Gives the turn to the operation that has waited longest.
    ///
    /// - Returns: the waiter to resume; nil if none waits.
    func endTurn() -> CheckedContinuation<Void, Never>? {
        if !queue.isEmpty { return queue.removeFirst() }
        isBusy = false
        return nil
    }
}
