/// What a timeout knows of the origin's calls that it waits for: how many are under way when it gives up.
final class Overrun: Sendable {
    private struct State {
        var underWay = 0
        var isOver = false
    }

    private let outer: Overrun?
    private let state = Locked(State())

    /// Of a timeout inside another one, perhaps.
    init(inside outer: Overrun?) {
        self.outer = outer
    }

    /// Whether this timeout, or one around it, has given up.
    var isOver: Bool { state.withLock { $0.isOver } || outer?.isOver == true }

    /// A call of the origin began.
    func began() {
        state.withLock { $0.underWay += 1 }
        outer?.began()
    }

    /// A call of the origin is over.
    func ended() {
        let isWaitedFor = state.withLock { state in
            state.underWay -= 1
            return !state.isOver
        }
        if isWaitedFor { outer?.ended() }
    }

    /// The timeout gives up. Nobody around it waits for these calls any more.
    ///
    /// - Returns: how many are under way.
    func giveUp() -> Int {
        let count = state.withLock { state in
            state.isOver = true
            return state.underWay
        }
        for _ in 0..<count { outer?.ended() }
        return count
    }
}
