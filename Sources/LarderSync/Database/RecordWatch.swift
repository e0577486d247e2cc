import Larder
import LarderSystem

extension RecordDatabase {
    /// The shortest time between two looks at what other processes have changed.
    private static let pause = Duration.milliseconds(100)

    /// Tells ``changes`` also of the changes of other processes, until the returned task is cancelled.
    func watch() -> Task<Void, Never>? {
        guard world.hasOtherProcesses else { return nil }
        return world.spawn { [weak self, world, processes] in
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
