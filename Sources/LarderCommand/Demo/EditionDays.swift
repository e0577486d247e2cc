import LarderFoundation
import Larder
import LarderEditions
@_spi(Demo) import LarderPlugins
import LarderReports
import LarderSimulation
import LarderSystem

/// Two simulated days of some devices. On the first one an edition meets an outage. On the second one all devices refuse a
/// bad edition.
struct EditionDays: Sendable {
    /// A part of a day, in hours and minutes.
    private struct Phase {
        var name: String
        var start: Timestamp
        var minutes: Int64
        /// The number of the edition that is published at its start.
        var edition: Int?

        init(_ name: String, day: Int64, hour: Int64, minute: Int64 = 0, minutes: Int64, edition: Int? = nil) {
            (self.name, self.minutes, self.edition) = (name, minutes, edition)
            start = EditionDays.monday + .seconds(day * 86_400 + hour * 3_600 + minute * 60)
        }
    }

    /// The result of both days.
    struct Account: Sendable {
        var rows: [DemoDay.Row] = []
        /// The times at which the last device had the edition that meets the outage, and had confirmed it.
        var inEffect: Timestamp?
        var confirmed: Timestamp?
        /// The reasons for which devices refused the bad edition: one for each device.
        var refusals: [String] = []
        /// The last dump of each device.
        var dumps: [MetricsDump] = []
    }

    private static let deviceCount = 12
    /// Monday, 5 January 2026, UTC.
    fileprivate static let monday = Timestamp(seconds: 1_767_571_200)
    private static let outage = (monday + .seconds(9 * 3_600))..<(monday + .seconds(11 * 3_600))

    private static let days = [
        [
            Phase("Monday morning", day: 0, hour: 8, minutes: 60), Phase("outage", day: 0, hour: 9, minutes: 60),
            Phase("42 arrives", day: 0, hour: 10, minutes: 20, edition: 42),
            Phase("outage with 42", day: 0, hour: 10, minute: 20, minutes: 40),
            Phase("recovery", day: 0, hour: 11, minutes: 60),
        ],
        [
            Phase("Tuesday morning", day: 1, hour: 8, minutes: 60),
            Phase("43 is refused", day: 1, hour: 9, minutes: 60, edition: 43),
        ],
    ]

    /// A policy of the app or of an edition.
    private static func policy(onError: String, seed: Int = 1) -> String {
        """
        { "resource": "prices", "origin": { "use": "sample", "payload": "catalog", "seed": \(seed) },
          "strategy": { "use": "network-first", "patience": "800ms" },
          "validators": [{ "use": "age", "fresh": "0s", "onError": "\(onError)" }], "store": "memory" }
        """
    }

    let seed: UInt64
    let registry: Registry

    /// Simulates the days.
    ///
    /// - Parameter progress: called with the share that is over, and the phase.
    func live(progress: @escaping @Sendable (Double, String) -> Void) throws -> Account {
        let sample = Plugin.sample(under: { SampleConditions(isDown: Self.outage.contains($0)) })
        let registry = try registry.replacing(sample).replacing(.channel)
        let data = try (0..<Self.deviceCount).map { _ in try TemporaryFolder() }
        let world = SimulatedWorld(seed: seed, start: Self.monday + .seconds(8 * 3_600))
        return try world.run(leaving: .anything) { [seed] world in
            let channel = try DemoChannel(in: world, registry: registry)
            let policies = ["prices": Self.policy(onError: "30m"), "_larder": channel.section]
            var account = Account()
            for (number, phases) in Self.days.enumerated() {
                // The apps start anew every morning.
                try await world.sleep(for: phases[0].start - world.now)
                var devices: [SimulatedPantry] = []
                for data in data {
                    devices.append(
                        try await SimulatedPantry(
                            policies, in: world, registry: registry, plugins: [channel.plugin], data: data))
                }
                let events = devices.compactMap { $0.pantry.editions?.events }
                for phase in phases {
                    progress(Double(account.rows.count) / 7, phase.name)
                    switch phase.edition {
                    case 42?: try channel.publish(42, Self.policy(onError: "12h"))
                    case 43?: try channel.publish(43, Self.policy(onError: "12h", seed: 2))
                    default: break
                    }
                    let before = devices.map { $0.resource.metrics }
                    let dice = SeededGenerator(seed: seed, stream: phase.name)
                    let times = await Self.ask(
                        devices, until: phase.start + .seconds(phase.minutes * 60), dice: dice, in: world)
                    account.inEffect = account.inEffect ?? times.inEffect
                    account.confirmed = account.confirmed ?? times.confirmed
                    let metrics = zip(devices, before).reduce(into: ResourceMetrics()) {
                        $0.merge($1.0.resource.metrics.since($1.1))
                    }
                    account.rows.append(DemoDay.Row(resource: "prices", phase: phase.name, metrics: metrics))
                }
                if number == Self.days.count - 1 {
                    for device in devices {
                        var dump = await device.pantry.metrics.dump()
                        // A simulated device belongs to no host.
                        dump.host = nil
                        account.dumps.append(dump)
                    }
                }
                for device in devices { await device.pantry.close() }
                for events in events {
                    for await case .refused(43?, let reason) in events { account.refusals.append("\(reason)") }
                }
            }
            return account
        }
    }

    /// Makes requests until the end of a phase, one after the other.
    ///
    /// - Returns: the times at which all devices had an edition in effect, and had confirmed it.
    private static func ask(
        _ devices: [SimulatedPantry], until end: Timestamp, dice: SeededGenerator, in world: SimulatedWorld
    ) async -> (inEffect: Timestamp?, confirmed: Timestamp?) {
        var dice = dice
        var times: (inEffect: Timestamp?, confirmed: Timestamp?)
        while world.now < end - .seconds(30) {
            for device in devices {
                let resource = device.resource
                let id = String(Int(dice.chance() * 5))
                world.spawn { _ = try? await resource.load(["id": id]) }
            }
            try? await world.sleep(for: .seconds(30))
            let editions = devices.compactMap(\.pantry.editions)
            if times.inEffect == nil, editions.allSatisfy({ $0.running != nil }) { times.inEffect = world.now }
            if times.confirmed == nil, editions.allSatisfy({ $0.running != nil && !$0.isTrial }) {
                times.confirmed = world.now
            }
        }
        try? await world.sleep(for: end - world.now)
        return times
    }
}

extension EditionDays.Account {
    /// Sentences about the days.
    var story: [String] {
        let count = dumps.count
        let facts = dumps.first?.supply.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } ?? []
        func clock(_ time: Timestamp?) -> String { time.map { String($0.spelled.dropFirst(11).prefix(5)) } ?? "–" }
        return [
            "On Monday the service failed from 9:00 to 11:00, and the policy shows copies for 30 min only. At 10:00 edition 42 "
                + "was published, with 12 h. It was in effect on all \(count) devices by \(clock(inEffect)), and confirmed by "
                + "\(clock(confirmed)).",
            "On Tuesday at 9:00 edition 43 was published, which takes prices from elsewhere. \(refusals.count) of \(count) "
                + "devices refused it: \(refusals.first ?? "–")",
            "Their dumps say: " + facts.joined(separator: ", "),
        ]
    }

    /// The days as JSON.
    func json(seed: Int) -> JSON {
        .joined(
            DemoTable(rows: rows).json(seed: seed),
            [
                "in_effect": inEffect.map { .string($0.spelled) } ?? .null,
                "confirmed": confirmed.map { .string($0.spelled) } ?? .null,
                "refusals": .list(refusals.map(JSON.string)),
                "supply": .list(
                    dumps.map { dump in .each(dump.supply.sorted { $0.key < $1.key }) { ($0.key, .string($0.value)) } }),
            ])
    }
}
