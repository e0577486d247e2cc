import LarderSystem
import LarderCore

/// Lets a few schedules of a pantry run at a time, in the order in which they ask.
final class RefreshTurns: Sendable {
    private struct State {
        var running = 0
        var next = 0
        var waiting: [(number: Int, start: CheckedContinuation<Bool, Never>)] = []
        /// Those who gave up before they began to wait.
        var givenUp: Set<Int> = []
    }

    /// The number of schedules that run at a time. With one more than one, a call that hangs does not hold up all others.
    private static let limit = 2

    private let state = Locked(State())

    /// Runs `body` when it is its turn.
    ///
    /// - Returns: the result of `body`; nil if the task is cancelled before its turn.
    func run<Result: Sendable>(_ body: () async -> Result) async -> Result? {
        guard await take() else { return nil }
        defer { end() }
        return await body()
    }

    private func take() async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let isTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            giveUp(number)
        }
        // It may have been cancelled just after its turn came.
        _ = state.withLock { $0.givenUp.remove(number) }
        return isTurn
    }

    private func wait(_ number: Int, _ start: CheckedContinuation<Bool, Never>) {
        let isTurn = state.withLock { state -> Bool? in
            if state.givenUp.remove(number) != nil { return false }
            guard state.running < Self.limit else {
                state.waiting.append((number, start))
                return nil
            }
            state.running += 1
            return true
        }
        if let isTurn { start.resume(returning: isTurn) }
    }

    private func giveUp(_ number: Int) {
        let start = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                state.givenUp.insert(number)
                return nil
            }
            return state.waiting.remove(at: place).start
        }
        start?.resume(returning: false)
    }

    private func end() {
        let start = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst().start }
            state.running -= 1
            return nil
        }
        start?.resume(returning: true)
    }
}
