public import LarderSystem
public import LarderCore

/// The condition of the sample origin's network at one moment.
@_spi(Demo) public struct SampleConditions: Sendable {
    /// The factor by which everything takes longer.
    let slowness: Double
    /// The share of calls that fail, in addition to the share in the policy.
    let failures: Double
    /// Whether the service fails all calls.
    let isDown: Bool
    /// Whether the device has no network.
    public let isOffline: Bool

    /// Makes conditions. By default nothing is slow and nothing fails.
    public init(slowness: Double = 1, failures: Double = 0, isDown: Bool = false, isOffline: Bool = false) {
        self.slowness = slowness
        self.failures = failures
        self.isDown = isDown
        self.isOffline = isOffline
    }
}

/// The settings of the origin `sample`.
struct SampleSettings {
    let payload = Setting("payload", .choice(["feed", "catalog", "image"]), help: "The kind of payload")
        .identifiesData()
    let seed = Setting("seed", .int(0...Int(Int32.max)), default: 1, help: "The seed of the payloads")
        .identifiesData()
    let changes = Setting(
        "changes", .duration(.seconds(1) ... .forever), default: .seconds(600),
        help: "How often the contents change; until then the answer for a current copy is \"unchanged\"")
    let latency = Setting("latency", .duration, default: .milliseconds(80), help: "The median latency of calls")
    let slowest = Setting("slowest", .duration, default: .milliseconds(400), help: "The 99th percentile of the latency")
    let failures = Setting("failures", .share, default: 0, help: "The share of calls that fail")
    let outages = Setting(
        "outages", .list(of: .window), default: [],
        help: "The times when the service is down: windows since the origin was composed")
}

extension Plugin {
    /// An imitation of a service, for demonstrations and documentation.
    ///
    /// - Parameter conditions: returns the condition of the network at a moment of the world's wall time.
    @_spi(Demo) public static func sample(
        under conditions: @escaping @Sendable (Timestamp) -> SampleConditions = { _ in SampleConditions() }
    ) -> Plugin {
        .origin(
            "sample", "Imitates a service. The same seed and parameters give the same payloads.",
            .group(SampleSettings())
        ) { context, settings in
            Sample(
                settings: settings, conditions: conditions, world: context.world, start: context.world.uptime)
        }
    }
}

/// A simulated service: payloads, latencies and failures come from a seed and the world's random numbers.
struct Sample: Loader {
    let settings: SettingValues<SampleSettings>
    let conditions: @Sendable (Timestamp) -> SampleConditions
    let world: any World
    let start: Duration

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let conditions = conditions(world.now)
        if conditions.isOffline { throw LoadError(.failed, "the network is not reachable") }
        let latency = world.chance(around: settings.latency, slowest: settings.slowest)
        try await world.sleep(for: latency.scaled(by: conditions.slowness))
        let since = world.uptime - start
        if conditions.isDown || settings.outages.contains(where: { $0.contains(since) }) { throw LoadError.status(503) }
        if world.chance() < 1 - (1 - settings.failures) * (1 - conditions.failures) { throw LoadError.status(500) }
        let edition = UInt64(max(0, world.now.nanoseconds)) / UInt64(settings.changes.nanoseconds)
        let etag = "\"\(edition)\""
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        let payload = SamplePayload(kind: settings.payload, seed: UInt64(settings.seed))
        let (bytes, type) = payload.make(for: call.request.parameters.dictionary, edition: edition)
        return Loaded(Entry(bytes, Metadata(etag: etag, contentType: type)))
    }
}
