import LarderFoundation

#if canImport(Glibc) || canImport(Musl)
    /// The signal that a thread receives for a write to a connection closed by the other end.
    public enum BrokenPipe {
        /// Runs `work`, during which the signal reaches this thread no more. It would end the process.
        public static func ignoring(_ work: () -> Void) {
            var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, &before)
            work()
            guard sigismember(&before, SIGPIPE) == 0 else { return }
            sigpending(&pending)
            if sigismember(&pending, SIGPIPE) == 1 {
                var number: Int32 = 0
                sigwait(&signals, &number)
            }
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
    }
#endif
