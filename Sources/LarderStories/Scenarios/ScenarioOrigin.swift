import LarderFoundation
import LarderSystem
import Larder

/// The origin of a scenario, which behaves as its phases say and records each call.
final class ScenarioOrigin: Loader {
    /// The end of a call.
    enum Ending: Sendable {
        case value
        case unchanged
        case failed(LoadError)
        /// The caller cancelled it.
        case givenUp
    }

    /// A call. Times are since the scenario began.
    struct Record: Sendable {
        var key: Key
        var start: Duration
        var end: Duration?
        var ending: Ending?
    }

    private let phases: [OriginPhase]
    private let world: any World
    private let start: Duration
    private let state = Locked<[Record]>([])
    /// The present phase, and the number of calls that it has had.
    private let phase = Locked<(number: Int, calls: Int)>((-1, 0))

    /// Creates the origin of a scenario that begins now.
    init(_ phases: [OriginPhase], world: any World) {
        self.phases = phases
        self.world = world
        start = world.uptime
    }

    /// The time since the scenario began.
    private var now: Duration { world.uptime - start }

    /// The calls so far, in the order of their beginning.
    var calls: [Record] { state.withLock { $0 } }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let number = state.withLock { records in
            records.append(Record(key: call.key, start: now))
            return records.count - 1
        }
        do {
            let loaded = try await play(call)
            end(number, loaded.source == .revalidated ? .unchanged : .value)
            return loaded
        } catch let error as LoadError {
            end(number, .failed(error))
            throw error
        } catch {
            end(number, .givenUp)
            throw error
        }
    }

    private func play(_ call: Call) async throws -> Loaded<Entry> {
        let phase = next(at: now)
        if let takes = phase?.takes, takes > .zero { try await world.sleep(for: takes) }
        switch phase?.deed {
        case .value(let value, let etag, let contentType):
            if let etag, call.known?.metadata.etag == etag { return try .unchanged(call) }
            let bytes = Data(value.text(indented: false).utf8)
            return Loaded(Entry(bytes, Metadata(etag: etag, contentType: contentType)))
        case .status(let status, let retryAfter): throw LoadError.status(status, retryAfter: retryAfter)
        case .hangs:
            try await world.sleep(for: .forever)
            throw CancellationError()
        case .offline, nil: throw LoadError(.failed, "the network is not reachable")
        }
    }

    /// Returns the phase of a call: the last one whose time has come, or the next one if it has had all its calls.
    private func next(at now: Duration) -> OriginPhase? {
        phase.withLock { phase in
            while phase.number + 1 < phases.count {
                let isOver = phase.number >= 0 && phases[phase.number].calls.map { phase.calls >= $0 } == true
                // Of phases that begin together, each waits until the calls of the one before are over.
                let next = phases[phase.number + 1].from
                let isLater = phase.number < 0 || next > phases[phase.number].from
                guard isOver || isLater && next <= now else { break }
                phase = (phase.number + 1, 0)
            }
            phase.calls += 1
            return phase.number < 0 ? nil : phases[phase.number]
        }
    }

    private func end(_ number: Int, _ ending: Ending) {
        let now = now
        state.withLock { records in
            records[number].end = now
            records[number].ending = ending
        }
    }
}
