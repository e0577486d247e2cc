#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderSimulation

/// A day in the life of a device: what the network is like and what the user asks for.
struct DemoDay: Sendable {
    /// A part of the day with one kind of weather.
    struct Phase: Sendable {
        var name: String
        var hours: Range<Int>
        var weather: Weather
    }

    /// What a user asks of one resource.
    struct Habit: Sendable {
        var resource: String
        var every: Duration
        var instances: Int
    }

    static let phases = [
        Phase(name: "morning rush", hours: 7..<10, weather: Weather(failures: 0.01)),
        Phase(name: "slow hour", hours: 10..<11, weather: Weather(slowness: 14, failures: 0.02)),
        Phase(name: "outage", hours: 11..<13, weather: Weather(isDown: true)),
        Phase(name: "offline", hours: 13..<18, weather: Weather(isOffline: true)),
        Phase(name: "recovery", hours: 18..<22, weather: Weather(failures: 0.01)),
    ]

    /// The weather at a moment of the day.
    static func weather(at time: Timestamp) -> Weather {
        let hour = Int(time.nanoseconds / 3_600_000_000_000 % 24)
        return phases.first { $0.hours.contains(hour) }?.weather ?? Weather()
    }

    /// What happened to one resource in one phase.
    struct Row: Sendable {
        var resource: String
        var phase: String
        var metrics: ResourceMetrics
    }

    /// What came of a day: a row for each resource and phase, and the metrics of the whole.
    struct Account: Sendable {
        var rows: [Row]
        var warnings: [Problem]
        var dump: MetricsDump
    }

    let seed: UInt64
    let policies: URL
    let registry: Registry
    var environment = ProcessInfo.processInfo.environment

    /// Lives through the day.
    ///
    /// - Parameter progress: told how much of it is over.
    func live(progress: @escaping @Sendable (Double, String) -> Void) throws -> Account {
        let registry = try registry.replacing(.sample(under: Self.weather))
        let cache = FileManager.default.temporaryDirectory.appending(path: "larder-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: cache) }
        // Seven in the morning of Monday, 5 January 2026, UTC.
        let world = SimulatedWorld(seed: seed, start: Timestamp(seconds: 1_767_571_200 + 7 * 3_600))
        return try world.run(leaving: .anything) { [policies, environment] world in
            let reader = PolicyReader(
                registry: registry, folder: policies.shortPath, environment: environment)
            let pantry = try await Pantry(reader: reader.withoutProcess, cache: cache, world: world)
            let habits = pantry.resources.compactMap { Self.habit(for: $0, in: pantry) }
            guard !habits.isEmpty else {
                throw LoadError(.failed, "no policy has an origin that uses 'sample', so there is nothing to show")
            }
            var rows: [Row] = []
            for phase in Self.phases {
                let before = pantry.resources.map { pantry.resource($0).metrics }
                try await Self.live(through: phase, habits, pantry, world, progress)
                for (resource, earlier) in zip(pantry.resources, before)
                where habits.contains(where: { $0.resource == resource }) {
                    let metrics = pantry.resource(resource).metrics.since(earlier)
                    rows.append(Row(resource: resource, phase: phase.name, metrics: metrics))
                }
            }
            var dump = await pantry.metrics.dump()
            // The day was lived nowhere.
            dump.host = nil
            return Account(rows: rows, warnings: pantry.warnings, dump: dump)
        }
    }

    /// How a resource is used, told from what its sample origin serves; nil if its origin is another.
    private static func habit(for resource: String, in pantry: Pantry) -> Habit? {
        guard let origin = pantry.policy(of: resource)?.origin, origin.plugin.name == "sample" else { return nil }
        return switch origin.node["payload"]?.string {
        case "feed": Habit(resource: resource, every: .seconds(10), instances: 1)
        case "image": Habit(resource: resource, every: .seconds(5), instances: 400)
        default: Habit(resource: resource, every: .seconds(10), instances: 120)
        }
    }

    private static func live(
        through phase: Phase, _ habits: [Habit], _ pantry: Pantry, _ world: SimulatedWorld,
        _ progress: @escaping @Sendable (Double, String) -> Void
    ) async throws {
        let length = Duration.seconds(3_600 * phase.hours.count)
        // Nobody asks in the last half minute, so that what a phase started ends in it.
        let end = world.uptime + length - .seconds(30)
        await withTaskGroup { group in
            for habit in habits {
                group.addTask { await Self.ask(habit, pantry, world, until: end) }
            }
            group.addTask {
                while world.uptime < end {
                    let hour = Double(world.now.nanoseconds % 86_400_000_000_000) / 3_600e9
                    progress((hour - 7) / 15, "\(Int(hour)) h, \(phase.name)")
                    try? await world.sleep(for: .seconds(600))
                }
            }
        }
        try await world.sleep(for: end + .seconds(30) - world.uptime)
    }

    /// Asks again and again, at random intervals, some instances far more often than others.
    private static func ask(_ habit: Habit, _ pantry: Pantry, _ world: SimulatedWorld, until end: Duration) async {
        let resource = pantry.resource(habit.resource)
        while world.uptime < end {
            var parameters: [String: String] = [:]
            if habit.instances > 1 {
                let skewed = world.chance() * world.chance()
                parameters["id"] = String(Int(skewed * Double(habit.instances)))
            }
            let request = resource.request(parameters)
            world.spawn { _ = try? await resource.load(request) }
            try? await world.sleep(for: habit.every.scaled(by: 0.2 + 1.6 * world.chance()))
        }
    }
}
