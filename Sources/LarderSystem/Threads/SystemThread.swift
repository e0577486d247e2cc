import LarderFoundation

/// A thread that does one piece of work and ends.
public enum SystemThread {
    /// Starts a thread that runs `work`. It receives no signals, so writing to a closed connection cannot end the
    /// process from it.
    ///
    /// - Returns: false if the system has no thread left; `work` is then not run.
    public static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        start(receivingSignals: false, work)
    }

    /// Starts a thread that runs `work`, which may receive the signals of the process.
    static func start(receivingSignals: Bool, _ work: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Work(receivingSignals: receivingSignals, work)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = pthread_create(&thread, nil, { Work.run($0) }, context)
            if status == 0, let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let status = pthread_create(&thread, nil, { $0.flatMap { Work.run($0) } }, context)
            if status == 0 { pthread_detach(thread) }
        #endif
        if status != 0 { Unmanaged<Work>.fromOpaque(context).release() }
        return status == 0
    }

    private final class Work: Sendable {
        private let receivesSignals: Bool
        private let work: @Sendable () -> Void

        init(receivingSignals: Bool, _ work: @escaping @Sendable () -> Void) {
            receivesSignals = receivingSignals
            self.work = work
        }

        static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
            if !work.receivesSignals {
                var signals = sigset_t()
                sigfillset(&signals)
                // These are about a fault of the thread itself.
                for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
                pthread_sigmask(SIG_BLOCK, &signals, nil)
            }
            work.work()
            return nil
        }
    }
}
