#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
// Its sources are documented to be safe to use from any thread, but not declared so.
@preconcurrency import Dispatch

extension SystemWorld {
    /// Tells whenever the process gets a signal: `USR1`, `USR2`, `HUP`, `INT`, `TERM`. From then on it has no other effect.
    public func signals(_ name: String) -> AsyncStream<Void> {
        let numbers = ["USR1": SIGUSR1, "USR2": SIGUSR2, "HUP": SIGHUP, "INT": SIGINT, "TERM": SIGTERM]
        guard let number = numbers[name] else { return AsyncStream { $0.finish() } }
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            // Elsewhere the source sees to it, and this would take the signal from those that listen already.
            #if canImport(Darwin)
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { stream.yield() }
            stream.onTermination = { _ in source.cancel() }
            source.resume()
        }
    }
}
