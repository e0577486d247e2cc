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
            guard bytes.count <= capacity else { throw HTTPFailure.largerThanCapacity }
            if bytes.count > Self.mostInMemory { return try await payload(of: answer.body, after: bytes, by: end) }
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

    /// Collects a large body. A disk that hangs does not make the call longer.
    private func payload(of body: HTTPBody, after first: Data, by end: Duration) async throws -> Payload {
        let collecting = TimedWait(in: context.world) { try await payload(of: body, after: first) }
        if let payload = try await collecting.value(within: end - context.world.uptime) { return payload }
        collecting.cancel()
        throw HTTPFailure(.timeout, "the answer was not complete within the limit")
    }

    /// Collects a large body in a file, or in memory if there is no folder for it.
    private func payload(of body: HTTPBody, after first: Data) async throws -> Payload {
        let (context, capacity) = (context, capacity)
        let world = context.world
        guard let sink = try? await world.blocking({ try context.payloadSink(capacity: capacity) }) else {
            var bytes = first
            while let chunk = try await body.next() {
                bytes.append(chunk)
                guard bytes.count <= capacity else { throw HTTPFailure.largerThanCapacity }
            }
            return Payload(bytes)
        }
        try await world.blocking { try sink.write(first) }
        var size = first.count
        while let chunk = try await body.next() {
            size += chunk.count
            guard size <= capacity else { throw HTTPFailure.largerThanCapacity }
            try await world.blocking { try sink.write(chunk) }
        }
        return try await world.blocking { try sink.finish() }
    }
}
