import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem

/// Plays histories of records against a policy in simulated time: with the policy's pulls, pushes, waits and rules for conflicts,
/// a real database, and a service that speaks as the policy says.
struct RecordStoryPlayer: Sendable {
    let resource: String
    private let reader: PolicyReader
    /// The service of the history that is being played.
    private let present: Locked<SimulatedService?>

    /// - Throws: `PolicyError` with the problems of the policy.
    init(_ policy: Policy, registry: Registry, files: String?, environment: [String: String]) throws {
        let present = Locked<SimulatedService?>(nil)
        (resource, self.present) = (policy.resource, present)
        let registry = try registry.simulated(
            store: { _, _, _, own in try own() },
            origin: { _, own in try present.withLock { $0 } ?? own() })
        reader = try PolicyReader(
            registry: registry, texts: [policy.resource: policy.tree.shown.text()], files: files,
            environment: environment
        ).readAhead()
    }

    /// Plays a history.
    func play(_ story: RecordStory) throws -> RecordHistory {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let service = SimulatedService(in: world)
            present.withLock { $0 = service }
            let stage = try RecordStage(of: resource, reader, service, in: world)
            try await stage.open()
            let history = try await stage.play(story)
            await stage.close()
            return history
        }
    }

    /// Returns the language of the service that the policy describes, and the policy's promises; nil for what it lacks.
    func tryOut() throws -> (dialect: ServiceDialect?, promises: Promises?) {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let stage = try RecordStage(of: resource, reader, SimulatedService(in: world), in: world)
            try await stage.open()
            let found = (dialect: stage.service.dialect, promises: stage.promises)
            await stage.close()
            return found
        }
    }
}
