extension Pantry {
    /// Reloads whenever a file of the folder changes, until the watch is let go. What comes of it, ``events`` tell.
    ///
    /// The folder may be deleted and come back, or be reached by a link that is swapped: while it is not there, all policies
    /// stay as they are. A single file that is gone is believed to be gone after a second, so that a file may be deleted
    /// and written anew; ``reload()`` believes it at once.
    public func watch() -> PolicyWatch {
        let (changes, moments) = AsyncStream<FolderChange>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let world = world
        let system = world.changes(in: folder)
        /// Looks again for files that are missing when they should be back.
        @Sendable func later(_ time: Duration?) -> Task<Void, Never>? {
            time.map { time in
                world.spawn {
                    if (try? await world.sleep(for: max(.zero, time - world.uptime))) != nil {
                        moments.tell(.files([]))
                    }
                }
            }
        }
        let listening = world.spawn { for await change in system { moments.tell(change) } }
        let following = world.spawn { [weak self] in
            // Changes from before the watch are looked at at once.
            var next = later(await self?.follow(.anything))
            defer { next?.cancel() }
            for await change in changes {
                // A writer may need a moment for all of its files.
                guard (try? await world.sleep(for: .milliseconds(50))) != nil, let self else { return }
                let time = await self.follow(change)
                next?.cancel()
                next = later(time)
            }
        }
        return PolicyWatch([listening, following])
    }
}

/// The watch over a folder of policies: it ends when nobody holds it any more, or when it is stopped.
public final class PolicyWatch: Sendable {
    private let work: [Task<Void, Never>]

    init(_ work: [Task<Void, Never>]) {
        self.work = work
    }

    /// Ends the watch.
    public func stop() {
        for task in work { task.cancel() }
    }

    deinit {
        for task in work { task.cancel() }
    }
}
