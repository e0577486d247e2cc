import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// Replays a stream of requests through one policy, in simulated time.
struct Replay: Sendable {
    /// The result of a replay.
    struct Account: Sendable {
        var policy: Policy
        var metrics: ResourceMetrics
        /// The ages of the values that were served, where they are known.
        var ages: Sketch
        var calls: Int
        var bytes: Int
    }

    let reader: PolicyReader
    let model: OriginModel
    let seed: UInt64

    /// The time after the last request in which background work can end.
    private static let aftermath = Duration.seconds(600)

    /// Replays the requests for the policy's resource.
    ///
    /// - Parameter progress: called with the share of the time that is over.
    func run(_ requests: [TracedRequest], progress: @escaping @Sendable (Double) -> Void) throws -> Account {
        let cache = try TemporaryFolder()
        return try SimulatedWorld(seed: seed).run(leaving: .anything) { [reader, model] world in
            let origin = model.origin(in: world)
            let pantry = try await Pantry(
                reader: reader, cache: cache.url, world: world, substitute: { _ in origin }, allowsBackgroundWork: false
            )
            guard let name = pantry.resources.first, let policy = pantry.policy(of: name) else {
                throw LoadError(.noSuchResource, "there is no policy")
            }
            let ages = Locked(Sketch(.age))
            let listening = pantry.attach(AgeSink(ages: ages))
            defer { listening.stop() }
            let resource = pantry.resource(name)
            let wanted = requests.filter { $0.resource == nil || $0.resource == name }
            let start = world.uptime
            for (place, traced) in wanted.enumerated() {
                let pause = start + traced.at - world.uptime
                if pause > .zero { try await world.sleep(for: pause) }
                let request = resource.request(["key": traced.key], mode: traced.mode)
                world.spawn { _ = try? await resource.load(request) }
                if place % 100 == 99 { progress(Double(place) / Double(wanted.count)) }
            }
            try await world.sleep(for: Self.aftermath)
            return Account(
                policy: policy, metrics: resource.metrics, ages: ages.withLock { $0 }, calls: origin.calls,
                bytes: origin.bytes)
        }
    }
}

/// Collects the ages of everything that is served.
private struct AgeSink: MetricsSink {
    let ages: Locked<Sketch>

    func ended(_ load: LoadReport) {
        if let age = load.age { ages.withLock { $0.record(max(.zero, age)) } }
    }
}
