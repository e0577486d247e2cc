import Larder

/// Says on the error output how far long work has come.
///
/// A person sees a bar once the work takes longer than a second. Where nobody watches, as in a log, a plain line is written
/// every ten seconds.
final class Progress: Sendable {
    private struct State {
        var next: Duration
        var isShown = false
    }

    private let terminal: Terminal
    private let task: String
    private let state: Locked<State>

    /// The progress of a command called `task`, which begins now.
    init(_ terminal: Terminal, _ task: String) {
        self.terminal = terminal
        self.task = task
        state = Locked(State(next: terminal.uptime() + (terminal.isInteractive ? .seconds(1) : .seconds(10))))
    }

    /// Says that a share of the work is done, if it is time to.
    func show(_ share: Double, _ label: String) {
        let now = terminal.uptime()
        let isDue = state.withLock { state in
            guard now >= state.next else { return false }
            state.next = now + (terminal.isInteractive ? .milliseconds(100) : .seconds(10))
            state.isShown = true
            return true
        }
        guard isDue else { return }
        let share = min(max(0, share), 1)
        if terminal.isInteractive {
            terminal.redraw(share, label.printable)
        } else {
            terminal.note("\(task): \(Int((share * 100).rounded(.down))) %, \(label.printable)")
        }
    }

    /// Removes the bar, if there is one.
    func end() {
        if terminal.isInteractive, state.withLock({ $0.isShown }) { terminal.clearLine() }
    }
}
