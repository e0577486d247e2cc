#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase
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
        let now = now
        let phase = phases.last { $0.from <= now }
        if let takes = phase?.takes, takes > .zero { try await world.sleep(for: takes) }
        switch phase?.deed {
        case .value(let value, let etag, let contentType):
            if let etag, call.known?.metadata.etag == etag { return try .unchanged(call) }
            let bytes = Data(value.text(indented: false).utf8)
            return Loaded(Entry(bytes, Metadata(etag: etag, contentType: contentType)))
        case .status(let status): throw LoadError.status(status)
        case .hangs:
            try await world.sleep(for: .forever)
            throw CancellationError()
        case .offline, nil: throw LoadError(.failed, "the network is not reachable")
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
