import Larder
import LarderBase

/// Shows the progress of long work on the error output.
///
/// A terminal shows a bar once the work takes longer than a second. Any other output, such as a log, gets a plain line
/// every ten seconds.
final class Progress: Sendable {
    private struct State {
        var next: Duration
        var isShown = false
    }

    private let terminal: Terminal
    private let task: String
    private let state: Locked<State>

    /// Begins the progress of a command called `task`.
    init(_ terminal: Terminal, _ task: String) {
        self.terminal = terminal
        self.task = task
        state = Locked(State(next: terminal.uptime() + (terminal.isInteractive ? .seconds(1) : .seconds(10))))
    }

    /// Shows that a share of the work is done, if the last display is old enough.
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

    /// Removes the bar if it is shown.
    func end() {
        if terminal.isInteractive, state.withLock({ $0.isShown }) { terminal.clearLine() }
    }
}
