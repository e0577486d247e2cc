import Larder
import LarderSystem

/// The one watch of a database for the changes of other processes. Its users share it: it begins with the first of them, and
/// ends with the last.
struct SharedWatch: Sendable {
    fileprivate var users = 0
    fileprivate var task: Task<Void, Never>?
}

extension RecordDatabase {
    /// The shortest time between two looks at what other processes have changed.
    private static let pause = Duration.milliseconds(100)

    /// Tells ``changes`` also of the changes of other processes, until the returned subscription ends. Returns nil if there
    /// can be no other processes.
    func watch() -> Subscription? {
        guard world.hasOtherProcesses else { return nil }
        sharedWatch.withLock { watch in
            watch.users += 1
            if watch.users == 1 { watch.task = follow() }
        }
        return Subscription { [weak self] in
            let ended = self?.sharedWatch.withLock { watch -> Task<Void, Never>? in
                watch.users -= 1
                return watch.users == 0 ? watch.task.take() : nil
            }
            ended?.cancel()
        }
    }

    private func follow() -> Task<Void, Never> {
        world.spawn { [weak self, world, processes] in
            _ = try? await world.blocking { processes.join() }
            let events = world.changes(in: processes.folder)
            var known = await self?.versions() ?? [:]
            // A page that was read before that may be older.
            self?.changes.send(nil)
            for await _ in events {
                guard let self else { return }
                _ = try? await world.blocking {
                    processes.join()
                    processes.look()
                }
                let present = await versions() ?? known
                for (table, version) in present where known[table] != version { changes.send(table) }
                known = present
                guard (try? await world.sleep(for: Self.pause)) != nil else { return }
            }
        }
    }

    /// Returns the number of each table, which grows with each change; nil if they cannot be read now.
    private func versions() async -> [RecordTable: Int64]? {
        try? await world.blocking { [self] in
            try reading { connection in
                Dictionary(uniqueKeysWithValues: try TableFacts.all(connection).map { ($0.table, $0.version) })
            }
        }
    }
}
