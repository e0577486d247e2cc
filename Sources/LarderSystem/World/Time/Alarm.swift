/// An action that a ``World`` does after a delay, unless it is cancelled first.
public struct Alarm: Sendable {
    private let cancelling: @Sendable () -> Void

    /// An alarm that `cancelling` takes back. It is called from any thread, perhaps more than once, and when the action
    /// has been done already.
    public init(cancelling: @escaping @Sendable () -> Void) {
        self.cancelling = cancelling
    }

    /// Cancels the alarm. Does nothing when the action has begun.
    public func cancel() { cancelling() }
}

extension World {
    /// Sleeps in a task of its own.
    public func alarm(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Alarm {
        let task = spawn {
            do { try await sleep(for: delay) } catch { return }
            action()
        }
        return Alarm { task.cancel() }
    }
}
