import LarderFoundation
// Dispatch sources are documented as safe to use from any thread, but they are not declared `Sendable`.
@preconcurrency import Dispatch

extension SystemWorld {
    /// Returns a stream with an element each time the process receives the signal: `USR1`, `USR2`, `HUP`, `INT` or
    /// `TERM`. The signal then has no other effect, also after the stream has ended.
    public func signals(_ name: String) -> AsyncStream<Void> {
        let numbers = ["USR1": SIGUSR1, "USR2": SIGUSR2, "HUP": SIGHUP, "INT": SIGINT, "TERM": SIGTERM]
        guard let number = numbers[name] else { return AsyncStream { $0.finish() } }
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            // On other systems the source does this, and this call would take the signal from other sources.
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
