#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderSimulation

/// One policy under a stream of requests, in virtual time.
struct Replay: Sendable {
    /// What came of it.
    struct Account: Sendable {
        var policy: Policy
        var metrics: ResourceMetrics
        /// Ages of everything that was served and whose age is known.
        var ages: Sketch
        var calls: Int
        var bytes: Int
    }

    let reader: PolicyReader
    let model: OriginModel
    let seed: UInt64

    /// How long what goes on behind the last request may take.
    private static let aftermath = Duration.seconds(600)

    /// Lives through the requests that are for the policy's resource.
    ///
    /// - Parameter progress: told how much of it is over.
    func run(_ arrivals: [Arrival], progress: @escaping @Sendable (Double) -> Void) throws -> Account {
        let cache = FileManager.default.temporaryDirectory.appending(path: "larder-simulate-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: cache) }
        return try SimulatedWorld(seed: seed).run(leaving: .anything) { [reader, model] world in
            let origin = model.origin(in: world)
            let pantry = try await Pantry(reader: reader, cache: cache, world: world, substitute: { _ in origin })
            guard let name = pantry.resources.first, let policy = pantry.policy(of: name) else {
                throw LoadError(.noSuchResource, "there is no policy")
            }
            let ages = Locked(Sketch(.age))
            let number = pantry.hearing.loads.add { report in
                if let age = report.age { ages.withLock { $0.record(max(.zero, age)) } }
            }
            defer { pantry.hearing.loads.remove(number) }
            let resource = pantry.resource(name)
            let wanted = arrivals.filter { $0.resource == nil || $0.resource == name }
            let start = world.uptime
            for (place, arrival) in wanted.enumerated() {
                let pause = start + arrival.at - world.uptime
                if pause > .zero { try await world.sleep(for: pause) }
                let request = resource.request(["key": arrival.key], mode: arrival.mode)
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
