import Larder
import LarderReports
import LarderSystem

/// Shows the progress of long work on the error output.
///
/// A terminal shows a bar once the work takes longer than a second. Any other output, such as a log, gets a plain line
/// every ten seconds.
package final class Progress: Sendable {
    private struct State {
        var next: Duration
        let start: Duration
        var isShown = false
    }

    private let terminal: Terminal
    private let task: String
    private let state: Locked<State>

    /// Begins the progress of a command called `task`.
    package init(_ terminal: Terminal, _ task: String) {
        self.terminal = terminal
        self.task = task
        let start = terminal.uptime()
        state = Locked(State(next: start + (terminal.isInteractive ? .seconds(1) : .seconds(10)), start: start))
    }

    /// Shows how far the work is, if the last display is old enough.
    ///
    /// - Parameter share: the share that is done; nil if nobody knows it.
    package func show(_ share: Double?, _ label: String) {
        let now = terminal.uptime()
        let start: Duration? = state.withLock { state in
            guard now >= state.next else { return nil }
            state.next = now + (terminal.isInteractive ? .milliseconds(100) : .seconds(10))
            state.isShown = true
            return state.start
        }
        guard let start else { return }
        guard let share = share.map({ min(max(0, $0), 1) }) else {
            return terminal.isInteractive
                ? terminal.redraw(label.printable) : terminal.note("\(task): \(label.printable)")
        }
        let label = label.printable + Self.left(of: now - start, after: share)
        if terminal.isInteractive {
            terminal.redraw(share, label)
        } else {
            terminal.note("\(task): \(Int((share * 100).rounded(.down))) %, \(label)")
        }
    }

    /// The time that is left if the rest goes on as before: `, 12 s left`. Empty as long as too little is done to tell.
    private static func left(of time: Duration, after share: Double) -> String {
        guard share >= 0.02, share < 1 else { return "" }
        return ", \(Optional(time.scaled(by: (1 - share) / share)).waited) left"
    }

    /// Removes the bar if it is shown.
    package func end() {
        if terminal.isInteractive, state.withLock({ $0.isShown }) { terminal.clearLine() }
    }
}
