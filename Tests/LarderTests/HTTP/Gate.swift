import LarderFoundation
import LarderSystem

/// A gate that is opened once: by a test, so that a scripted server goes on, or by the server, so that a test does.
final class Gate: Sendable {
    /// The end of a pipe that can be read from once the gate is open. Nothing is ever read from it.
    let descriptor: Int32
    private let writing: Int32
    private let wasOpened = Locked(false)
    private let opening = AsyncStream<Never>.makeStream()

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no descriptors are left")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, writing) = (ends[0], ends[1])
    }

    deinit {
        opening.continuation.finish()
        close(writing)
        close(descriptor)
    }

    /// Whether the gate is open.
    var isOpen: Bool { wasOpened.withLock { $0 } }

    /// Opens the gate for good.
    func open() {
        let isFirst = wasOpened.withLock { wasOpened in
            defer { wasOpened = true }
            return !wasOpened
        }
        guard isFirst else { return }
        // A byte rather than the closing of the pipe: a process started meanwhile could keep the pipe open.
        _ = write(writing, [1], 1)
        opening.continuation.finish()
    }

    /// Returns when the gate is open. One task at a time may wait.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, for instance by the time limit of a test.
    func opened() async throws {
        for await _ in opening.stream {}
        try Task.checkCancellation()
    }
}
