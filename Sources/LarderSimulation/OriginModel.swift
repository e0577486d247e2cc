import LarderFoundation
import LarderSystem
public import Larder

/// A model of an origin: its latency, its failures, and the times when it is slow, down or silent.
///
/// ```swift
/// var model = OriginModel()
/// model.failures = 0.02
/// model.outages = [.seconds(600)..<(.seconds(780))]
/// let origin = model.origin(in: world)
/// ```
public struct OriginModel: Sendable {
    /// The median latency.
    public var latency = Duration.milliseconds(80)
    /// The latency that 99 of 100 calls do not exceed.
    public var slowest = Duration.milliseconds(400)
    /// The share of calls that fail with status 500.
    public var failures = 0.0
    /// The times when all calls fail with status 503, since the origin was created.
    public var outages: [Range<Duration>] = []
    /// The times when calls are slow, since the origin was created.
    public var slowdowns: [Range<Duration>] = []
    /// The factor by which latencies are multiplied when calls are slow.
    public var slowness = 25.0
    /// The times when calls never end, since the origin was created.
    public var silences: [Range<Duration>] = []
    /// The time between two changes of the contents. In between, a call that names the present copy is answered with
    /// "unchanged".
    public var changes = Duration.seconds(600)
    /// The size of a payload in bytes.
    public var size = 10_000
    /// The lifetime that the origin states for its answers, as the field `Cache-Control: max-age`; nil if it states none.
    public var lifetime: Duration?
    /// The media type of the payloads.
    public var contentType = "application/json"

    /// Creates a model without failures, with a median latency of 80 ms.
    public init() {}

    /// Returns an origin that follows this model. Latency and failure of each call follow from the world's seed, the key
    /// and the time of the call. So the origin treats a call alike, whichever calls another policy makes before it.
    public func origin(in world: any World) -> ModelledOrigin {
        ModelledOrigin(self, world)
    }
}

/// An origin that follows a model and counts its calls and bytes.
public final class ModelledOrigin: Loader {
    private let model: OriginModel
    private let world: any World
    private let start: Duration
    private let seed: UInt64
    private let payload: Data
    private let state = Locked(State())

    private struct State {
        var calls = 0
        var bytes = 0
        /// The time of the last call, and the number of calls for each key at that time.
        var last = Duration.zero
        var repeats: [String: Int] = [:]

        /// Counts a call. Returns the number of calls for the key at the same time before it.
        mutating func call(_ key: String, at time: Duration) -> Int {
            calls += 1
            if time != last { (last, repeats) = (time, [:]) }
            defer { repeats[key, default: 0] += 1 }
            return repeats[key, default: 0]
        }
    }

    init(_ model: OriginModel, _ world: any World) {
        self.model = model
        self.world = world
        start = world.uptime
        seed = world.random()
        // The payload is a JSON string, so that codecs can decode it.
        payload = Data(
            [UInt8(ascii: "\"")] + repeatElement(UInt8(ascii: "x"), count: max(0, model.size - 2))
                + [UInt8(ascii: "\"")])
    }

    /// The number of calls that have begun.
    public var calls: Int { state.withLock { $0.calls } }

    /// The number of payload bytes that were sent.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// Answers, fails or hangs as the model says for the time at which the call begins.
    public func load(_ call: Call) async throws -> Loaded<Entry> {
        let since = world.uptime - start
        let number = state.withLock { $0.call(call.key.text, at: since) }
        func isIn(_ windows: [Range<Duration>]) -> Bool { windows.contains { $0.contains(since) } }
        if isIn(model.silences) { try await world.sleep(for: .forever) }
        // A call that is repeated at once need not end like the one before.
        var chances = SeededGenerator(
            seed: seed ^ UInt64(bitPattern: since.nanoseconds),
            stream: call.key.text + String(repeating: "\n", count: number))
        let takes = model.latency.varied(slowest: model.slowest, by: chances.chance(), chances.chance())
        try await world.sleep(for: isIn(model.slowdowns) ? takes.scaled(by: model.slowness) : takes)
        if isIn(model.outages) { throw LoadError.status(503) }
        if chances.chance() < model.failures { throw LoadError.status(500) }
        let edition = world.now.nanoseconds / max(1, model.changes.nanoseconds)
        let etag = "\"\(edition)\""
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        state.withLock { $0.bytes += payload.count }
        return Loaded(Entry(payload, Metadata(etag: etag, contentType: model.contentType).stating(model.lifetime)))
    }
}

extension Metadata {
    /// Returns the metadata with a lifetime as servers state it: with the field `Cache-Control: max-age`.
    package func stating(_ lifetime: Duration?) -> Metadata {
        guard let lifetime else { return self }
        var copy = self
        (copy.status, copy.fields) = (200, ["Cache-Control": "max-age=\(lifetime.nanoseconds / 1_000_000_000)"])
        return copy
    }
}
