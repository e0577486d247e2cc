import LarderFoundation
import Larder
@_spi(Demo) import LarderPlugins
import LarderSimulation

/// A simulated day of one device: the state of the network and the requests of a user.
struct DemoDay: Sendable {
    /// A part of the day in which the network stays the same.
    struct Phase: Sendable {
        var name: String
        var hours: Range<Int>
        var weather: SampleConditions
        /// The times without a network, in minutes from the start of the phase.
        var offline: [Range<Int>] = []
    }

    /// The requests of a user for one resource.
    struct Habit: Sendable {
        var resource: String
        var every: Duration
        var instances: Int
    }

    static let phases = [
        Phase(name: "morning rush", hours: 7..<9, weather: SampleConditions(failures: 0.01)),
        Phase(
            name: "commute", hours: 9..<10, weather: SampleConditions(failures: 0.01),
            offline: [6..<9, 16..<20, 25..<31, 41..<46]),
        Phase(name: "slow hour", hours: 10..<11, weather: SampleConditions(slowness: 14, failures: 0.02)),
        Phase(name: "outage", hours: 11..<13, weather: SampleConditions(isDown: true)),
        Phase(name: "offline", hours: 13..<18, weather: SampleConditions(), offline: [0..<300]),
        Phase(name: "recovery", hours: 18..<22, weather: SampleConditions(failures: 0.01)),
    ]

    /// The state of the network at a time of the day.
    static func weather(at time: Timestamp) -> SampleConditions {
        let minute = Int(time.nanoseconds / 60_000_000_000 % 1_440)
        guard let phase = phases.first(where: { $0.hours.contains(minute / 60) }) else { return SampleConditions() }
        let isOffline = phase.offline.contains { $0.contains(minute - 60 * phase.hours.lowerBound) }
        return isOffline ? SampleConditions(isOffline: true) : phase.weather
    }

    /// The metrics of one resource in one phase.
    struct Row: Sendable {
        var resource: String
        var phase: String
        var metrics: ResourceMetrics
    }

    /// The result of a day: a row for each resource and phase, and the metrics of the whole day.
    struct Account: Sendable {
        var rows: [Row]
        var warnings: [Problem]
        var dump: MetricsDump

        /// Returns the dumps of a day with an evening. The first device of the evening is that of the day.
        func dumps(with evening: DemoEvening.Account) -> [MetricsDump] {
            guard let device = evening.dumps.first else { return [dump] }
            var day = dump
            day.written = device.written
            for resource in device.resources {
                day.resources.removeAll { $0.name == resource.name }
                day.resources.append(resource)
            }
            return [day] + evening.dumps.dropFirst()
        }
    }

    let seed: UInt64
    let policies: URL
    let registry: Registry
    var environment = ProcessInfo.processInfo.environment

    /// Simulates the day.
    ///
    /// - Parameter progress: called with the share of the day that is over, and the phase.
    func live(progress: @escaping @Sendable (Double, String) -> Void) throws -> Account {
        let registry = try registry.replacing(.sample(under: Self.weather))
        let (cache, data) = try (TemporaryFolder(), TemporaryFolder())
        // Seven in the morning of Monday, 5 January 2026, UTC.
        let world = SimulatedWorld(seed: seed, start: Timestamp(seconds: 1_767_571_200 + 7 * 3_600))
        return try world.run(leaving: .anything) { [seed, policies, environment] world in
            let reader = PolicyReader(registry: registry, folder: policies.shortPath, environment: environment)
            let pantry = try await Pantry(reader: reader.withoutProcess, cache: cache.url, data: data.url, world: world)
            let habits = pantry.resources.compactMap { Self.habit(for: $0, in: pantry) }
            guard !habits.isEmpty else {
                throw LoadError(
                    .failed,
                    "no policy has an origin that uses 'sample', so there is nothing to show; use 'larder simulate'")
            }
            var rows: [Row] = []
            world.network = .online
            for phase in Self.phases {
                let before = pantry.resources.map { pantry.resource($0).metrics }
                try await Self.live(
                    through: phase, habits: habits, seed: seed, pantry: pantry, in: world, progress: progress)
                for (resource, earlier) in zip(pantry.resources, before)
                where habits.contains(where: { $0.resource == resource }) {
                    let metrics = pantry.resource(resource).metrics.since(earlier)
                    rows.append(Row(resource: resource, phase: phase.name, metrics: metrics))
                }
            }
            var dump = await pantry.metrics.dump()
            // A simulated day belongs to no host and no installation.
            (dump.host, dump.installation) = (nil, nil)
            return Account(rows: rows, warnings: pantry.warnings, dump: dump)
        }
    }

    /// The habit that suits the payloads of a sample origin; nil for any other origin.
    private static func habit(for resource: String, in pantry: Pantry) -> Habit? {
        guard let origin = pantry.policy(of: resource)?.origin, origin.plugin.name == "sample" else { return nil }
        return switch origin.node["payload"]?.string {
        case "feed": Habit(resource: resource, every: .seconds(10), instances: 1)
        case "image": Habit(resource: resource, every: .seconds(5), instances: 400)
        default: Habit(resource: resource, every: .seconds(10), instances: 120)
        }
    }

    private static func live(
        through phase: Phase, habits: [Habit], seed: UInt64, pantry: Pantry, in world: SimulatedWorld,
        progress: @escaping @Sendable (Double, String) -> Void
    ) async throws {
        let length = Duration.seconds(3_600 * phase.hours.count)
        // No requests in the last half minute, so that the calls of a phase end in it.
        let end = world.uptime + length - .seconds(30)
        await withTaskGroup { group in
            group.addTask { await Self.loseNetwork(in: phase, world) }
            for habit in habits {
                let dice = SeededGenerator(seed: seed, stream: "\(habit.resource), \(phase.name)")
                group.addTask { await Self.ask(habit, dice: dice, pantry: pantry, in: world, until: end) }
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

    /// Takes the network away and gives it back at the times of a phase. The origin cannot be reached meanwhile: see
    /// ``weather(at:)``.
    private static func loseNetwork(in phase: Phase, _ world: SimulatedWorld) async {
        let start = world.uptime
        for minutes in phase.offline {
            await wait(until: start + .seconds(60 * minutes.lowerBound), world)
            world.network = .offline
            await wait(until: start + .seconds(60 * minutes.upperBound), world)
            world.network = .online
        }
    }

    private static func wait(until uptime: Duration, _ world: SimulatedWorld) async {
        if uptime > world.uptime { try? await world.sleep(for: uptime - world.uptime) }
    }

    /// Makes requests at random intervals, some instances far more often than others. The requests depend neither on the
    /// policy nor on other resources.
    private static func ask(
        _ habit: Habit, dice: SeededGenerator, pantry: Pantry, in world: SimulatedWorld, until end: Duration
    ) async {
        var dice = dice
        let resource = pantry.resource(habit.resource)
        while world.uptime < end {
            var parameters: Parameters = [:]
            if habit.instances > 1 {
                let skewed = dice.chance() * dice.chance()
                parameters["id"] = String(Int(skewed * Double(habit.instances)))
            }
            let request = resource.request(parameters)
            world.spawn { _ = try? await resource.load(request) }
            try? await world.sleep(for: habit.every.scaled(by: 0.2 + 1.6 * dice.chance()))
        }
    }
}
