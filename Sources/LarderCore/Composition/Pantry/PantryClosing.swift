public import LarderSystem

extension Pantry {
    /// Saves what is not saved yet and closes the stores, for the end of the process.
    ///
    /// Cancels prefetches, closes the attachments of sections, and waits until the answers that have arrived are saved.
    /// Then writes the last dump of the metrics and the rest of the log to the files that `_larder.json` names, and
    /// closes the stores. A store that hangs keeps no other from being closed.
    ///
    /// Loads still work afterwards, but nothing is kept, no copy is found, and no file counts them any more.
    ///
    /// - Parameter limit: the longest time for all of this. Saving that takes longer goes on in the background, and its
    ///   store is closed afterwards, as long as the process runs.
    public func close(within limit: Duration = .seconds(5)) async {
        // The cancellation of the caller's task does not end it early.
        await world.spawn { [self] in
            let start = world.uptime
            // Part of the time is kept for each later step.
            let share = min(limit.scaled(by: 0.2), .seconds(1))
            func wait(until end: Duration, for work: @escaping @Sendable () async -> Void) async {
                let left = end - (world.uptime - start)
                _ = try? await AwaitableWork(in: world, work).value(within: max(.zero, left))
            }
            agenda.close()
            await composer.openAttachments.closeAll(by: start + max(.zero, limit - share - share), sparing: share)
            device.close()
            let stores = resourceStates.map { $0.stores.map(\.storeAccess) }
            await wait(until: limit - share - share) {
                _ = await stores.flatMap { $0 }.concurrentMap { await $0.finishSaving() }
            }
            for storeAccess in stores.joined() { storeAccess.noteEnding() }
            // The dump counts the stores' entries, so it is written before they are closed.
            if let files = operationsFiles.withLock({ $0 }) { await wait(until: limit - share) { await files.close() } }
            await wait(until: limit) { [self] in await closeStores() }
        }.value
    }

    private func closeStores() async {
        let stores = resourceStates.flatMap { $0.stores.map(\.storeAccess) }
        _ = try? await world.blocking { [self] in
            policies.withLock { _ in
                if isClosed.withLock({ isClosed in
                    defer { isClosed = true }
                    return isClosed
                }) {
                    return
                }
                for state in resourceStates {
                    guard let graph = state.graph,
                        let closed = try? composer.compose(
                            graph.policy, after: graph, in: state, with: attachments.withLock { $0 }, isClosed: true)
                    else { continue }
                    state.replace(with: closed)
                }
            }
        }
        _ = await stores.concurrentMap { storeAccess in
            await storeAccess.finishSaving()
            await storeAccess.close()
        }
        let unfinished = composer.payloadFolder.unfinished
        _ = try? await world.blocking { unfinished.close() }
        await composer.turns.settle(within: .forever)
        _ = try? await world.blocking { [places = composer.places] in places.close() }
    }

    /// Closes the pantry when SIGTERM or SIGINT asks the process to end. Afterwards the signal has its former effect:
    /// it ends the process, or calls the handler that the app had installed.
    ///
    /// ```swift
    /// let closing = pantry.closeOnSignals()
    /// ```
    ///
    /// Call this after installing handlers of your own, because a handler that is installed later replaces this one. A
    /// signal that the process ignores stays ignored. A second signal takes effect at once.
    ///
    /// - Parameters:
    ///   - limit: the longest time for closing, so that a store that hangs does not keep the process running.
    ///   - work: the app's own work before the pantry is closed. It shares the limit.
    /// - Returns: the subscription to the signals. When it is released, signals have their former effect at once.
    public func closeOnSignals(
        within limit: Duration = .seconds(5), after work: @escaping @Sendable () async -> Void = {}
    ) -> Subscription {
        let signals = world.heldSignals(["TERM", "INT"])
        let task = world.spawn { [weak self, world] in
            for await signal in signals {
                let timer = world.spawn {
                    if (try? await world.sleep(for: limit)) != nil { signal.release() }
                }
                let start = world.uptime
                await work()
                await self?.close(within: max(.zero, limit - (world.uptime - start)))
                timer.cancel()
                signal.release()
            }
        }
        return Subscription { task.cancel() }
    }
}
