import LarderFoundation
import Synchronization

extension SystemWorld {
    /// Holds back signals that would end the process (`TERM`, `INT`, `HUP`, `QUIT`) and returns a stream of them.
    ///
    /// A signal that the process ignores stays ignored. When there are several streams, the signal has its effect after
    /// all readers have released it. A second signal has its effect at once.
    public func heldSignals(_ names: [String]) -> AsyncStream<HeldSignal> { SignalHold.shared.stream(of: names) }
}

/// Holds back signals until every reader that received them has released them.
///
/// There is one instance, because a process has one action for each signal. Its thread and its pipe stay until the
/// process ends.
private final class SignalHold: Sendable {
    private struct Listener {
        var signals: Set<Int32>
        var stream: AsyncStream<HeldSignal>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
        /// The number of readers that have not yet released each signal.
        var holders: [Int32: Int] = [:]
        var thread: BlockingThreads?
    }

    static let shared = SignalHold()
    private static let numbers = ["TERM": SIGTERM, "INT": SIGINT, "HUP": SIGHUP, "QUIT": SIGQUIT]

    private let state = Locked(State())

    func stream(of names: [String]) -> AsyncStream<HeldSignal> {
        let signals = Set(names.compactMap { Self.numbers[$0] })
        return AsyncStream { stream in
            let number = state.withLock { state in
                guard prepare(&state) else {
                    stream.finish()
                    return 0
                }
                state.next += 1
                let held = signals.filter { signal in
                    state.listeners.values.contains { $0.signals.contains(signal) } || HeldActions.install(signal)
                }
                state.listeners[state.next] = Listener(signals: held, stream: stream)
                return state.next
            }
            stream.onTermination = { [self] _ in remove(number) }
        }
    }

    /// Starts the thread that receives the signals, unless it is running.
    private func prepare(_ state: inout State) -> Bool {
        if state.thread != nil { return true }
        guard let end = HeldActions.openPipe() else { return false }
        let thread = BlockingThreads(limit: 1)
        thread.run { [self] in
            var byte: UInt8 = 0
            while true {
                let count = read(end, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { return }
                received(Int32(byte))
            }
        }
        state.thread = thread
        return true
    }

    private func remove(_ number: Int) {
        state.withLock { state in
            guard let listener = state.listeners.removeValue(forKey: number) else { return }
            for signal in listener.signals
            where !state.listeners.values.contains(where: { $0.signals.contains(signal) }) {
                HeldActions.restore(signal)
            }
        }
    }

    private func received(_ signal: Int32) {
        let streams = state.withLock { state in
            let streams = state.listeners.values.filter { $0.signals.contains(signal) }.map(\.stream)
            state.holders[signal] = streams.count
            return streams
        }
        if streams.isEmpty { HeldActions.take(signal) }
        let name = Self.numbers.first { $0.value == signal }?.key ?? ""
        for stream in streams { stream.yield(HeldSignal(name) { [self] in released(signal) }) }
    }

    private func released(_ signal: Int32) {
        let isLast = state.withLock { state in
            state.holders[signal, default: 1] -= 1
            guard state.holders[signal] == 0 else { return false }
            // If the process survives the signal, readers that want to hold it again make a new stream.
            for number in state.listeners.keys { state.listeners[number]?.signals.remove(signal) }
            return true
        }
        if isLast { HeldActions.take(signal) }
    }
}

/// The actions that the process had for signals before they were held.
///
/// They are kept where a signal handler can reach them. A handler may only call functions that take no lock and
/// allocate nothing.
private enum HeldActions {
    private static let most = 65
    /// The former actions by signal number. Each is written before the handler of its signal is installed. The handler
    /// reads it.
    nonisolated(unsafe) private static let former: UnsafeMutablePointer<sigaction> = {
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: most)
        actions.initialize(repeating: sigaction(), count: most)
        return actions
    }()
    private static let pipeEnd = Atomic<Int32>(-1)
    /// Whether a received signal is held.
    private static let isHolding = Atomic(false)

    /// Opens the pipe to which the handler writes.
    ///
    /// - Returns: the end to read from, or nil if the system gave no pipe.
    static func openPipe() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipeEnd.store(ends[1], ordering: .sequentiallyConsistent)
        return ends[0]
    }

    /// Begins to hold a signal.
    ///
    /// - Returns: false if the process ignores the signal, which then stays ignored.
    static func install(_ signal: Int32) -> Bool {
        var current = sigaction()
        guard sigaction(signal, nil, &current) == 0, !current.isIgnoring else { return false }
        former[Int(signal)] = current
        var own = sigaction()
        own.call(handle)
        own.sa_flags = Int32(SA_RESTART)
        return sigaction(signal, &own, nil) == 0
    }

    /// Restores the former action of a signal, unless other code has changed the action since.
    static func restore(_ signal: Int32) {
        var current = sigaction()
        guard sigaction(signal, nil, &current) == 0, current.calls(handle) else { return }
        sigaction(signal, former + Int(signal), nil)
    }

    /// Lets a signal have its original effect.
    static func take(_ signal: Int32) {
        restore(signal)
        isHolding.store(false, ordering: .sequentiallyConsistent)
        kill(getpid(), signal)
    }

    private static let handle: @convention(c) (Int32) -> Void = { signal in
        let code = errno
        if HeldActions.isHolding.exchange(true, ordering: .sequentiallyConsistent) {
            // This is the second signal. It has its effect when the handler returns.
            sigaction(signal, HeldActions.former + Int(signal), nil)
            raise(signal)
        } else {
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = write(HeldActions.pipeEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
        }
        errno = code
    }
}

extension sigaction {
    /// The handler as a number. 1 means that the signal is ignored.
    private var number: Int {
        #if canImport(Darwin)
            unsafeBitCast(__sigaction_u.__sa_handler, to: Int.self)
        #elseif canImport(Glibc)
            unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self)
        #else
            unsafeBitCast(__sa_handler.sa_handler, to: Int.self)
        #endif
    }

    fileprivate var isIgnoring: Bool { number == 1 }

    fileprivate func calls(_ handler: @convention(c) (Int32) -> Void) -> Bool {
        number == unsafeBitCast(handler, to: Int.self)
    }

    fileprivate mutating func call(_ handler: @escaping @convention(c) (Int32) -> Void) {
        #if canImport(Darwin)
            __sigaction_u.__sa_handler = handler
        #elseif canImport(Glibc)
            __sigaction_handler.sa_handler = handler
        #else
            __sa_handler.sa_handler = handler
        #endif
    }
}
