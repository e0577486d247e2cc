import LarderSystem

/// Tells the stores of one pantry of the clearings by other processes. It watches the log once, however many stores listen,
/// and only while one does.
final class ClearingWatch: Sendable {
    private let log: ClearingLog
    private let world: any World
    private let listeners = Listeners<Void>()
    private let watch = Locked<Task<Void, Never>?>(nil)

    init(_ log: ClearingLog, in world: any World) {
        self.log = log
        self.world = world
    }

    deinit { watch.withLock { $0 }?.cancel() }

    /// Returns a change of all entries for each clearing that concerns a resource's folder from now on.
    func changes(of folder: String) -> AsyncStream<StoreChange> {
        let (stream, continuation) = StoreChange.makeStream()
        let seen = BlockingLock(log.position)
        let listener = listeners.add { [log] _ in
            if seen.withLock({ log.hasOthers(after: &$0, in: folder) }) { continuation.send(StoreChange(.all)) }
        }
        continuation.onTermination = { [weak self] _ in
            listener.stop()
            self?.stopIfUnused()
        }
        start()
        return stream
    }

    private func start() {
        watch.withLock { watch in
            if watch != nil { return }
            watch = world.spawn { [log, world, listeners] in
                let events = world.changes(in: log.folder)
                // Others may have cleared something before the watch began.
                listeners.send(())
                for await _ in events { listeners.send(()) }
            }
        }
    }

    private func stopIfUnused() {
        watch.withLock { watch in
            guard listeners.isEmpty else { return }
            watch?.cancel()
            watch = nil
        }
    }
}
