import LarderFoundation
import LarderSystem
import LarderCore

/// Sends the metrics of a pantry to an OpenTelemetry collector, again and again: the section `otlp` of `_larder.json`.
///
/// Each request has all counts since the process began, so a request that fails is not repeated: the next one has its counts
/// too. The states and gauges of that moment are lost, and so are the last counts if the last request fails or the process
/// is killed. Only one request is in memory at a time. Loads do not wait for it. When the pantry is closed, the last counts
/// are sent.
///
/// `pantry.attachment(OTLPExporter.self)` tells how many requests failed.
final class OTLPExporter: Attachment {
    private struct State {
        var sent = 0
        var failures = 0
        /// The failures since the last success.
        var failuresInARow = 0
        /// The uptime until which the collector asks for silence.
        var silence = Duration.zero
    }

    private let settings: SettingValues<OTLPSettings>
    private let transport: any HTTPTransport
    private let context: SectionContext
    private let state = Locked(State())
    private let work = Locked<Task<Void, Never>?>(nil)

    init(_ settings: SettingValues<OTLPSettings>, over transport: any HTTPTransport, _ context: SectionContext) {
        self.settings = settings
        self.transport = transport
        self.context = context
        let task = context.world.spawn { [weak self, world = context.world, every = settings.every] in
            while (try? await world.sleep(for: every)) != nil { await self?.export(isLast: false) }
        }
        work.withLock { $0 = task }
    }

    deinit { work.withLock { $0 }?.cancel() }

    /// The number of requests that the collector has accepted.
    var sent: Int { state.withLock { $0.sent } }

    /// The number of requests that failed.
    var failures: Int { state.withLock { $0.failures } }

    /// Sends the last counts. Nothing is sent afterwards.
    func close() async {
        let task = work.withLock { work in
            defer { work = nil }
            return work
        }
        guard let task else { return }
        task.cancel()
        await task.value
        await export(isLast: true)
    }

    // MARK: Sending

    private func export(isLast: Bool) async {
        let now = context.world.uptime
        if !isLast, state.withLock({ now < $0.silence }) { return }
        guard let dump = await context.ownPantry?.metrics.dump() else { return }
        let message = OTLPMessage(
            dump: dump, attributes: settings.attributes,
            buckets: settings.histograms == "explicit" ? .fixed : .exponential, failures: failures)
        do {
            try await send(Data(message.json.text(indented: false).utf8))
            succeeded()
        } catch is CancellationError {
            return
        } catch {
            failed((error as? HTTPFailure)?.description ?? LoadError.name(of: error))
        }
    }

    private func send(_ body: Data) async throws {
        let fields = [Fields.Field("Content-Type", "application/json")].compactMap { $0 } + settings.fields
        let request = HTTPRequest(method: "POST", url: settings.endpoint, fields: fields, body: body)
        let limits = HTTPLimits(
            connect: settings.limit, firstByte: settings.limit, whole: settings.limit, capacity: 1 << 16)
        let answer = try await transport.send(
            request, within: limits, trusting: HTTPTrust(authorities: settings.authorities))
        guard 200...299 ~= answer.status else {
            if let silence = answer.retryAfter(at: context.world.now) {
                let end = context.world.uptime + min(silence, .seconds(86_400))
                state.withLock { $0.silence = end }
            }
            throw HTTPFailure(.other, "the collector answered with the status \(answer.status)")
        }
        var text: [UInt8] = []
        while let bytes = try await answer.body.next() { text += bytes }
        let rejected = Self.rejected(text)
        if rejected > 0 { throw HTTPFailure(.other, "the collector rejected \(rejected) of the numbers") }
    }

    /// Returns the number of points that the collector rejected although the status is that of a success. Returns 0 if the
    /// answer does not tell it as a whole number, in digits or in a text of digits.
    static func rejected(_ answer: [UInt8]) -> Int {
        let name = Array("\"rejectedDataPoints\"".utf8)
        guard let start = answer.indices.first(where: { answer[$0...].starts(with: name) }) else { return 0 }
        let digits = answer[(start + name.count)...].drop { " \t\r\n:\"".utf8.contains($0) }
            .prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    // MARK: Telling

    private func succeeded() {
        let missed = state.withLock { state in
            defer { state.failuresInARow = 0 }
            state.sent += 1
            return state.failuresInARow
        }
        if missed > 0 { context.tell(.otlp, "the metrics are sent again; requests that failed before: \(missed)") }
    }

    private func failed(_ reason: String) {
        let isFirst = state.withLock { state in
            state.failures += 1
            state.failuresInARow += 1
            return state.failuresInARow == 1
        }
        if isFirst { context.tell(.otlp, "the metrics could not be sent: \(reason)") }
    }
}

extension Decision.Kind {
    /// The metrics cannot be sent to the OpenTelemetry collector, or are sent again.
    static let otlp = Decision.Kind(rawValue: "otlp")
}
