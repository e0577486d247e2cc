extension Pantry {
    /// Closes the pantry when the process is asked to end, by SIGTERM or SIGINT. Then the signal does what it did before: it
    /// ends the process, or calls the handler that the app had installed.
    ///
    /// ```swift
    /// let closing = pantry.closeOnSignals()
    /// ```
    ///
    /// Call this after handlers of your own are installed: one that is installed later takes the place of this. A signal that
    /// the process ignores stays ignored. A second signal has its effect at once.
    ///
    /// - Parameters:
    ///   - limit: how long closing may take, so that a store that hangs does not keep the process.
    ///   - work: the app's own work before the pantry is closed, within the same time.
    /// - Returns: the tie to the signals. When it is let go, they do at once what they did before.
    public func closeOnSignals(
        within limit: Duration = .seconds(5), after work: @escaping @Sendable () async -> Void = {}
    ) -> Attachment {
        let signals = world.heldSignals(["TERM", "INT"])
        let task = world.spawn { [weak self, world] in
            for await signal in signals {
                let timer = world.spawn {
                    if (try? await world.sleep(for: limit)) != nil { signal.release() }
                }
                await work()
                await self?.close()
                timer.cancel()
                signal.release()
            }
        }
        return Attachment { task.cancel() }
    }
}
