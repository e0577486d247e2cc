/// What the sample origin's network is like at some moment.
public struct Weather: Sendable {
    /// How many times as long everything takes.
    public var slowness: Double
    /// The share of calls that fail, besides what the policy says.
    public var failures: Double
    /// Whether the service answers with errors only.
    public var isDown: Bool
    /// Whether the device has no network.
    public var isOffline: Bool

    /// By default a fine day.
    public init(slowness: Double = 1, failures: Double = 0, isDown: Bool = false, isOffline: Bool = false) {
        self.slowness = slowness
        self.failures = failures
        self.isDown = isDown
        self.isOffline = isOffline
    }
}

extension Plugin {
    /// A stand-in service for demonstrations and documentation.
    ///
    /// - Parameter weather: what the network is like at a moment of the world's wall time.
    public static func sample(under weather: @escaping @Sendable (Timestamp) -> Weather = { _ in Weather() }) -> Plugin
    {
        .origin(
            "sample", "A stand-in service that makes up payloads, the same for the same seed and parameters.",
            Setting("payload", .choice(["feed", "catalog", "image"]), help: "What it serves"),
            Setting("seed", .int(0...Int(Int32.max)), default: 1, help: "Another seed, another world"),
            Setting(
                "changes", .duration(.seconds(1) ... .forever), default: .seconds(600),
                help: "How often its contents change; in between it answers \"unchanged\" to those who have them"),
            Setting("latency", .duration, default: .milliseconds(80), help: "How long half of all calls take at most"),
            Setting("slowest", .duration, default: .milliseconds(400), help: "How long 99 of 100 calls take at most"),
            Setting("failures", .share, default: 0, help: "The share of calls that fail"),
            Setting(
                "outages", .list(of: .window), default: [],
                help: "When it is down: windows of the time since it was composed")
        ) { context, payload, seed, changes, latency, slowest, failures, outages in
            Sample(
                payload: SamplePayload(kind: payload, seed: UInt64(seed)), changes: changes, latency: latency,
                slowest: slowest, failures: failures, outages: outages, weather: weather, world: context.world,
                start: context.world.uptime)
        }
    }
}

/// A service that is not there: payloads, latencies and failures made up from a seed and the world's chance.
struct Sample: Loader {
    let payload: SamplePayload
    let changes: Duration
    let latency: Duration
    let slowest: Duration
    let failures: Double
    let outages: [Range<Duration>]
    let weather: @Sendable (Timestamp) -> Weather
    let world: any World
    let start: Duration

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let weather = weather(world.now)
        if weather.isOffline { throw LoadError(.failed, "the network is not reachable") }
        try await world.sleep(for: world.chance(around: latency, slowest: slowest).scaled(by: weather.slowness))
        let since = world.uptime - start
        if weather.isDown || outages.contains(where: { $0.contains(since) }) { throw LoadError.status(503) }
        if world.chance() < 1 - (1 - failures) * (1 - weather.failures) { throw LoadError.status(500) }
        let edition = UInt64(max(0, world.now.nanoseconds)) / UInt64(changes.nanoseconds)
        let etag = "\"\(edition)\""
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        let (bytes, type) = payload.make(for: call.request.parameters, edition: edition)
        return Loaded(Entry(bytes, Metadata(etag: etag, contentType: type)))
    }
}
