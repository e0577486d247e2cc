#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderCore

/// Collects the bodies of answers: small ones in memory, large ones in files.
struct HTTPPayloads: Sendable {
    /// A body that is larger is put into a file.
    private static let mostInMemory = 1 << 17

    /// The longest time that the body of an error may take.
    private static let longestExplanation = Duration.seconds(1)

    /// The largest body, in bytes, after decoding.
    let capacity: Int
    let context: Context

    /// Returns the whole body of the answer to a request with this method.
    ///
    /// - Parameter end: the uptime at which the body must be complete. The transport keeps it, too.
    /// - Throws: ``HTTPFailure`` if the body does not arrive completely, or is larger than the capacity.
    func payload(of answer: HTTPAnswer, to method: String, by end: Duration) async throws -> Payload {
        // The answer to HEAD has the length of a body that does not follow.
        if method != "HEAD",
            let length = answer.fields.first(where: { $0.name == "content-length" }).flatMap({ Int($0.value) }),
            length > capacity
        {
            throw HTTPFailure.largerThanCapacity
        }
        var bytes = Data()
        while let chunk = try await answer.body.next() {
            if bytes.isEmpty { bytes = chunk } else { bytes.append(chunk) }
            if bytes.count > Self.mostInMemory, let sink = await sink() {
                return try await payload(of: answer.body, after: bytes, in: sink, by: end)
            }
        }
        return Payload(bytes)
    }

    /// Returns the first bytes of a body, which explain an error. The error does not wait for a slow body, and a body that
    /// does not arrive completely is cut there.
    func explanation(in answer: HTTPAnswer) async throws -> Data {
        var bytes = Data()
        let alarm = context.world.alarm(after: Self.longestExplanation) { [body = answer.body] in body.cancel() }
        defer { alarm.cancel() }
        do {
            while bytes.count <= Reply.bodyCapacity, let chunk = try await answer.body.next() { bytes.append(chunk) }
        } catch is HTTPFailure {
        } catch is CancellationError where !Task.isCancelled {}
        return bytes
    }

    private func sink() async -> PayloadSink? {
        let (context, capacity) = (context, capacity)
        // Without a folder, the payload is collected in memory.
        return try? await context.world.blocking { try context.payloadSink(capacity: capacity) }
    }

    /// Collects a body in a file. A disk that hangs does not make the call longer.
    private func payload(
        of body: HTTPBody, after first: Data, in sink: PayloadSink, by end: Duration
    ) async throws -> Payload {
        let collecting = TimedWait(in: context.world) { try await payload(of: body, after: first, in: sink) }
        if let payload = try await collecting.value(within: end - context.world.uptime) { return payload }
        collecting.cancel()
        throw HTTPFailure(.timeout, "the answer was not complete within the limit")
    }

    private func payload(of body: HTTPBody, after first: Data, in sink: PayloadSink) async throws -> Payload {
        let world = context.world
        try await world.blocking { try sink.write(first) }
        while let chunk = try await body.next() { try await world.blocking { try sink.write(chunk) } }
        return try await world.blocking { try sink.finish() }
    }
}
