#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import Larder

/// What an origin is like: how long it takes, how often it fails, when it is slow, down or silent.
///
/// ```swift
/// var model = OriginModel()
/// model.failures = 0.02
/// model.outages = [.seconds(600)..<(.seconds(780))]
/// let origin = model.origin(in: world)
/// ```
public struct OriginModel: Sendable {
    /// Half of all calls take no longer.
    public var latency = Duration.milliseconds(80)
    /// Of a hundred calls ninety-nine take no longer.
    public var slowest = Duration.milliseconds(400)
    /// The share of calls that fail with a 500.
    public var failures = 0.0
    /// When it answers with 503 only. Times are since the origin was made.
    public var outages: [Range<Duration>] = []
    /// When it is slow.
    public var slowdowns: [Range<Duration>] = []
    /// How many times as long a call takes when it is slow.
    public var slowness = 25.0
    /// When it never answers.
    public var silences: [Range<Duration>] = []
    /// How often its contents change; in between it says "unchanged" to those who have them.
    public var changes = Duration.seconds(600)
    /// How many bytes a payload has.
    public var size = 10_000
    /// The media type of its payloads.
    public var contentType = "application/json"

    /// An origin that is well: 80 ms, no failures.
    public init() {}

    /// An origin like this, in a world whose randomness decides.
    public func origin(in world: any World) -> ModelledOrigin {
        ModelledOrigin(self, world)
    }
}

/// An origin that behaves as a model says, and counts what it sends.
public final class ModelledOrigin: Loader {
    private let model: OriginModel
    private let world: any World
    private let start: Duration
    private let payload: Data
    private let state = Locked((calls: 0, bytes: 0))

    init(_ model: OriginModel, _ world: any World) {
        self.model = model
        self.world = world
        start = world.uptime
        // A string of JSON, so that codecs and validators that look inside are content.
        payload = Data(
            [UInt8(ascii: "\"")] + repeatElement(UInt8(ascii: "x"), count: max(0, model.size - 2))
                + [UInt8(ascii: "\"")])
    }

    /// How many calls began.
    public var calls: Int { state.withLock { $0.calls } }

    /// How many bytes of payload were sent.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// Answers, fails or hangs, as the model says for the moment at which the call begins.
    public func load(_ call: Call) async throws -> Loaded<Entry> {
        state.withLock { $0.calls += 1 }
        let since = world.uptime - start
        func isIn(_ windows: [Range<Duration>]) -> Bool { windows.contains { $0.contains(since) } }
        if isIn(model.silences) { try await world.sleep(for: .forever) }
        let takes = world.chance(around: model.latency, slowest: model.slowest)
        try await world.sleep(for: isIn(model.slowdowns) ? takes.scaled(by: model.slowness) : takes)
        if isIn(model.outages) { throw LoadError.status(503) }
        if world.chance() < model.failures { throw LoadError.status(500) }
        let edition = world.now.nanoseconds / max(1, model.changes.nanoseconds)
        let etag = "\"\(edition)\""
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        state.withLock { $0.bytes += payload.count }
        return Loaded(Entry(payload, Metadata(etag: etag, contentType: model.contentType)))
    }
}
