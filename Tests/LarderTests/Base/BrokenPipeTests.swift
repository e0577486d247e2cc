#if canImport(Glibc) || canImport(Musl)
    import LarderFoundation
    import LarderSystem
    import Testing

    @Suite struct BrokenPipeTests {
        private static func signals() -> (isBlocked: Bool, isPending: Bool) {
            var (blocked, pending) = (sigset_t(), sigset_t())
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            sigpending(&pending)
            return (sigismember(&blocked, SIGPIPE) == 1, sigismember(&pending, SIGPIPE) == 1)
        }

        @Test func writeToClosedPipeLeavesProcessAlive() async {
            await #expect(processExitsWith: .exitCode(7)) {
                signal(SIGPIPE, SIG_DFL)
                var unblocked = sigset_t()
                sigemptyset(&unblocked)
                pthread_sigmask(SIG_SETMASK, &unblocked, nil)
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else { exit(1) }
                close(ends[0])
                var (code, pendingWithin): (Int32, Bool) = (0, false)
                BrokenPipe.ignoring {
                    var byte: UInt8 = 1
                    if write(ends[1], &byte, 1) < 0 { code = errno }
                    pendingWithin = BrokenPipeTests.signals().isPending
                }
                let after = BrokenPipeTests.signals()
                exit(code == EPIPE && pendingWithin && !after.isBlocked && !after.isPending ? 7 : 1)
            }
        }
    }
#endif
