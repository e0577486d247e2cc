public import LarderSystem

extension Pantry {
    /// Reloads whenever a file of the folder changes, until the subscription ends. ``events`` reports the results.
    ///
    /// The folder may be deleted and come back, or be reached through a symbolic link that changes. While it is
    /// missing, all policies stay as they are. A single missing file counts as deleted after a second, so that it may
    /// be deleted and written anew; for ``reload()`` it counts as deleted at once. Policies in memory have no folder,
    /// so there is nothing to watch.
    public func watch() -> Subscription {
        guard hasFolder else { return Subscription {} }
        let (changes, moments) = AsyncStream<FolderChange>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let world = world
        let system = world.changes(in: folder)
        /// Looks again for missing files at the time when they should be back.
        @Sendable func later(_ time: Duration?) -> Task<Void, Never>? {
            time.map { time in
                world.spawn {
                    if (try? await world.sleep(for: max(.zero, time - world.uptime))) != nil {
                        moments.send(.files([]))
                    }
                }
            }
        }
        let listening = world.spawn { for await change in system { moments.send(change) } }
        let following = world.spawn { [weak self] in
            // Changes from before the watch are read at once.
            var next = later(await self?.follow(.anything))
            defer { next?.cancel() }
            for await change in changes {
                // A program that writes several files may need a moment for all of them.
                guard (try? await world.sleep(for: .milliseconds(50))) != nil, let self else { return }
                let time = await self.follow(change)
                next?.cancel()
                next = later(time)
            }
        }
        return Subscription {
            listening.cancel()
            following.cancel()
        }
    }
}
