/// Decides which answers may be written, and lets them be written one at a time for each key.
///
/// Newer is whose call started later. A late answer never overwrites one whose call began after its own, and none is
/// written once its key was cleared after the load began that wanted it. State is kept for a key only while a ticket
/// for it is out.
package final class Order: Sendable {
    /// When an operation may still be carried out.
    enum Condition {
        /// Nothing newer was written, and the key was not cleared since.
        case notOvertaken
        /// Nothing at all was written since, and the key was not cleared.
        case untouched
    }

    private struct Line {
        var tickets = 0
        var writes: UInt64 = 0
        var newest: UInt64 = 0
        var cleared: UInt64 = 0
        var clearedTags: [String: UInt64] = [:]
        var isBusy = false
        var queue: [CheckedContinuation<Void, Never>] = []
    }

    private struct State {
        var next: UInt64 = 1
        var lines: [Key: Line] = [:]
        /// The clearings under way, by the number of their beginning.
        var clearings: [UInt64: Selection] = [:]

        mutating func number() -> UInt64 {
            defer { next += 1 }
            return next
        }
    }

    private let state = Locked(State())
    /// The copies that must not be shown as they are.
    let leftovers = Leftovers()

    package init() {}

    /// A ticket for a call that starts now, for a load that began earlier if it holds one already.
    func begin(_ key: Key, for load: Ticket? = nil) -> Ticket {
        state.withLock { state in
            let sequence = state.number()
            state.lines[key, default: Line()].tickets += 1
            return Ticket(
                key, sequence: sequence, since: load?.since ?? sequence, writes: state.lines[key]?.writes ?? 0
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

    /// Whether the key was cleared since the load began.
    func isVoid(_ ticket: Ticket) -> Bool {
        state.withLock { ($0.lines[ticket.key]?.cleared ?? 0) > ticket.since }
    }

    /// Carries `work`, which is about an entry that bears `tags`, out in its turn, if the condition holds then.
    ///
    /// - Returns: whether it was carried out.
    func perform(
        _ ticket: Ticket, if condition: Condition = .notOvertaken, tags: [String] = [], _ work: () async throws -> Void
    ) async rethrows -> Bool {
        await takeTurn(ticket.key)
        var unfinished: [Unfinished] = []
        defer { endTurn(ticket, after: unfinished) }
        let allowed = state.withLock { state in
            guard let line = state.lines[ticket.key], line.cleared < ticket.since,
                !state.clearings.values.contains(where: { $0.contains(ticket.key, tags: tags) }),
                !tags.contains(where: { line.clearedTags[$0] ?? 0 > ticket.since })
            else { return false }
            switch condition {
            case .notOvertaken: return line.newest < ticket.sequence
            case .untouched: return line.writes == ticket.writes
            }
        }
        guard allowed else { return false }
        defer {
            // Even a write that failed may have changed something: one tier of several, say.
            state.withLock {
                $0.lines[ticket.key]?.writes += 1
                if condition == .notOvertaken { $0.lines[ticket.key]?.newest = ticket.sequence }
            }
        }
        do {
            try await work()
        } catch {
            // A write that was given up may still land: what comes after it must not be overtaken by it.
            unfinished = (error as? StoreError)?.unfinished ?? []
            throw error
        }
        return true
    }

    /// Waits for the writes of the selected keys that are under way, then carries `work` out. Until it ends nothing is
    /// written for them, and then the tickets are void of all loads that began before. When `work` was given up and goes
    /// on, nothing is written for them until it has ended: what is saved now would be removed by it.
    ///
    /// - Parameter isAgain: whether it is another try of a clearing that failed, so that the tickets of loads that began
    ///   after that one stay valid.
    func clear(
        _ selection: Selection, isAgain: Bool = false, _ work: () async throws -> Void
    ) async rethrows {
        let (number, busy) = state.withLock { state in
            let number = state.number()
            state.clearings[number] = selection
            let busy = state.lines.filter { $0.value.isBusy && selection.mayContain($0.key) }.map(\.key)
            // In one order, whatever order the dictionary has this time: a history must be the same when it is replayed.
            return (number, busy.sorted { $0.text < $1.text })
        }
        var unfinished: [Unfinished] = []
        defer {
            state.withLock { state in
                if isAgain { return }
                let now = state.number()
                for key in state.lines.keys where selection.mayContain(key) {
                    if case .tag(let tag) = selection {
                        state.lines[key]?.clearedTags[tag] = now
                    } else {
                        state.lines[key]?.cleared = now
                    }
                }
            }
            Unfinished.whenOver(unfinished) { [state] in state.withLock { $0.clearings[number] = nil } }
        }
        for key in busy {
            let ticket = begin(key)
            await takeTurn(key)
            endTurn(key)
            withExtendedLifetime(ticket) {}
        }
        do {
            try await work()
        } catch {
            unfinished = (error as? StoreError)?.unfinished ?? []
            throw error
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

    /// Ends the turn when everything that was given up in it has ended. The ticket keeps the line until then.
    private func endTurn(_ ticket: Ticket, after unfinished: [Unfinished]) {
        Unfinished.whenOver(unfinished) { self.endTurn(ticket.key) }
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
