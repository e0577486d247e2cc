import LarderBase

/// Decides which answers may be written, and orders the writes of each key one after another.
///
/// The variants of a key share its turns and its clearings. Which answer is the newest is remembered for each variant.
///
/// An answer is newer if its call began later. An older answer never overwrites a newer one. An answer is not written
/// if its key was cleared after the load of the answer began. State is kept for a key only while a ticket for it
/// exists.
package final class WriteOrder: Sendable {
    /// When an operation may still be carried out.
    enum Condition {
        /// No newer answer was written, and the key was not cleared since the load began.
        case notOvertaken
        /// The key was neither written nor cleared since the ticket was taken.
        case untouched
    }

    /// The operations that may not be carried out after a clearing because they began before it.
    enum Voided {
        /// Every operation, because what was cleared must not come back.
        case everything
        /// The operations that copy or remove what was read before.
        case readings
        /// None, because this repeats a clearing that failed.
        case nothing
    }

    private struct Line {
        var tickets = 0
        var writes: UInt64 = 0
        var newest: UInt64 = 0
        /// The newest answers of variants, at most ``WriteOrder/variantCapacity`` of them.
        var newestVariants: [Key: UInt64] = [:]
        /// The newest answer of all variants that are not remembered any more.
        var newestForgotten: UInt64 = 0
        var cleared: UInt64 = 0
        var clearedTags: [String: UInt64] = [:]
        var isBusy = false
        var queue: [CheckedContinuation<Void, Never>] = []

        /// Remembers the newest answer of a variant, and forgets that of another one if there are too many.
        mutating func wrote(_ variant: Key, _ sequence: UInt64) {
            newestVariants[variant] = sequence
            guard newestVariants.count > WriteOrder.variantCapacity,
                let oldest = newestVariants.min(by: { $0.value < $1.value })
            else { return }
            newestVariants[oldest.key] = nil
            newestForgotten = oldest.value
        }
    }

    /// The number of variants of one key whose newest answers are remembered.
    private static let variantCapacity = 1_000

    private struct State {
        var next: UInt64 = 1
        var lines: [Key: Line] = [:]
        /// The clearings under way, by the numbers under which they began.
        var clearings: [UInt64: Selection] = [:]

        mutating func number() -> UInt64 {
            defer { next += 1 }
            return next
        }
    }

    private let state = Locked(State())
    /// The outdated copies that could not be removed.
    let outdatedCopies: OutdatedCopies
    /// The objects that hits must ask.
    let exceptions = HitExceptions()

    package init() {
        outdatedCopies = OutdatedCopies(countedBy: exceptions)
    }

    /// Returns a ticket for a call that begins now. `load` is the ticket of the load that makes the call, if that began
    /// earlier. `entryKey` may be a variant.
    func begin(_ entryKey: Key, for load: Ticket? = nil) -> Ticket {
        let key = entryKey.base
        return state.withLock { state in
            let sequence = state.number()
            state.lines[key, default: Line()].tickets += 1
            return Ticket(
                key, entryKey: entryKey, sequence: sequence, since: load?.since ?? sequence,
                writes: state.lines[key]?.writes ?? 0
            ) { [self] key in end(key) }
        }
    }

    private func end(_ key: Key) {
        state.withLock { state in
            guard var line = state.lines[key] else { return }
            line.tickets -= 1
            state.lines[key] = line.tickets == 0 ? nil : line
        }
    }

    /// Returns whether the key was cleared since the load began.
    func isVoid(_ ticket: Ticket) -> Bool {
        state.withLock { ($0.lines[ticket.key]?.cleared ?? 0) > ticket.since }
    }

    /// Does `work`, which concerns the entry under the ticket's key and with these tags, in its turn, if the condition
    /// holds then.
    ///
    /// - Returns: whether it was done.
    func perform(
        _ ticket: Ticket, if condition: Condition, tags: [String] = [], _ work: () async throws -> Void
    ) async rethrows -> Bool {
        try await perform(ticket, if: condition, tags: tags, at: { ticket.entryKey }, work)
    }

    /// Does `work`, which concerns an entry with these tags, in its turn, if the condition holds then.
    ///
    /// - Parameter place: returns the key of the entry: the ticket's base key or a variant of it. It is called in the
    ///   turn, because earlier turns may change which variant it is.
    /// - Returns: whether it was done.
    func perform(
        _ ticket: Ticket, if condition: Condition = .notOvertaken, tags: [String] = [], at place: () async -> Key,
        _ work: () async throws -> Void
    ) async rethrows -> Bool {
        await takeTurn(ticket.key)
        var unfinished: [UnfinishedOperation] = []
        defer { endTurn(ticket, after: unfinished) }
        let entryKey = await place()
        let allowed = state.withLock { state in
            guard let line = state.lines[ticket.key], line.cleared < ticket.since,
                !state.clearings.values.contains(where: { $0.concerns(entryKey, tags: tags) }),
                !tags.contains(where: { line.clearedTags[$0] ?? 0 > ticket.since })
            else { return false }
            switch condition {
            case .notOvertaken:
                return max(line.newest, line.newestVariants[entryKey] ?? line.newestForgotten) < ticket.sequence
            case .untouched: return line.writes == ticket.writes
            }
        }
        guard allowed else { return false }
        defer {
            // A write that failed may have changed some tiers.
            state.withLock {
                $0.lines[ticket.key]?.writes += 1
                guard condition == .notOvertaken else { return }
                if entryKey.isVariant {
                    $0.lines[ticket.key]?.wrote(entryKey, ticket.sequence)
                } else {
                    $0.lines[ticket.key]?.newest = ticket.sequence
                }
            }
        }
        do {
            try await work()
        } catch {
            // A write that was given up may still be carried out. Later writes wait for its end.
            unfinished = (error as? StoreError)?.unfinished ?? []
            throw error
        }
        return true
    }

    /// Waits for the writes of the selected keys that are under way, then does `work`, which removes the selected
    /// entries.
    ///
    /// No entry is written for these keys until `work` ends, because `work` might remove it. That holds also if `work`
    /// was given up and goes on.
    ///
    /// - Parameters:
    ///   - voided: the operations to discard, among those of loads that began before the clearing ended.
    ///   - limit: the longest time for all of this; nil for no limit. If there are writes to wait for, the limit is at
    ///     most ``LimitedStore/selectionLimit``, because a write that was given up may never end.
    /// - Throws: the error of `work`, or that of the limit. `work` then goes on, or begins later.
    func clear(
        _ selection: Selection, voiding voided: Voided = .everything, within limit: Duration? = nil,
        in world: any World, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (number, busy) = state.withLock { state in
            let number = state.number()
            state.clearings[number] = selection
            let busy = state.lines.filter { $0.value.isBusy && selection.mayConcern($0.key) }.map(\.key)
            // Sorted, because the order of a dictionary varies and a replayed history must be the same.
            return (number, busy.sorted { $0.text < $1.text })
        }
        var unfinished: [UnfinishedOperation] = []
        defer {
            state.withLock { state in
                if voided == .nothing { return }
                let now = state.number()
                for key in state.lines.keys where selection.mayConcern(key) {
                    if voided == .readings {
                        state.lines[key]?.writes += 1
                    } else if case .tag(let tag) = selection {
                        state.lines[key]?.clearedTags[tag] = now
                    } else {
                        state.lines[key]?.cleared = now
                    }
                }
            }
            UnfinishedOperation.whenOver(unfinished) { [state] in state.withLock { $0.clearings[number] = nil } }
        }
        let most = busy.isEmpty ? limit : min(limit ?? .forever, LimitedStore.selectionLimit)
        do {
            guard let most else { return try await work() }
            try await world.limited(to: most, isCancellable: false) { [self] in
                await waitForTurns(of: busy)
                try await work()
            }
        } catch {
            unfinished = (error as? StoreError)?.unfinished ?? []
            throw error
        }
    }

    private func waitForTurns(of keys: [Key]) async {
        for key in keys {
            let ticket = begin(key)
            await takeTurn(key)
            endTurn(key)
            withExtendedLifetime(ticket) {}
        }
    }

    private func takeTurn(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                guard state.lines[key]?.isBusy == true else {
                    state.lines[key]?.isBusy = true
                    return true
                }
                state.lines[key]?.queue.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Ends the turn when all operations that were given up in it have ended. The ticket keeps the line alive until
    /// then.
    private func endTurn(_ ticket: Ticket, after unfinished: [UnfinishedOperation]) {
        UnfinishedOperation.whenOver(unfinished) { self.endTurn(ticket.key) }
    }

    private func endTurn(_ key: Key) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.lines[key]?.queue.isEmpty == false else {
                state.lines[key]?.isBusy = false
                return nil
            }
            return state.lines[key]?.queue.removeFirst()
        }
        next?.resume()
    }
}
