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

    /// The largest body, in bytes, after decoding.
    let capacity: Int
    let context: Context

    /// Returns the whole body of the answer to a request with this method.
    ///
    /// - Throws: ``HTTPFailure`` if the body does not arrive completely, or is larger than the capacity.
    func payload(of answer: HTTPAnswer, to method: String) async throws -> Payload {
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
                return try await payload(of: answer.body, after: bytes, in: sink)
            }
        }
        return Payload(bytes)
    }

    /// Returns the first bytes of a body, which explain an error. A body that does not arrive completely is cut there.
    func explanation(in answer: HTTPAnswer) async throws -> Data {
        var bytes = Data()
        do {
            while bytes.count <= Reply.bodyCapacity, let chunk = try await answer.body.next() { bytes.append(chunk) }
        } catch is HTTPFailure {}
        return bytes
    }

    private func sink() async -> PayloadSink? {
        let (context, capacity) = (context, capacity)
        // Without a folder, the payload is collected in memory.
        return try? await context.world.blocking { try context.payloadSink(capacity: capacity) }
    }

    private func payload(of body: HTTPBody, after first: Data, in sink: PayloadSink) async throws -> Payload {
        let world = context.world
        try await world.blocking { try sink.write(first) }
        while let chunk = try await body.next() { try await world.blocking { try sink.write(chunk) } }
        return try await world.blocking { try sink.finish() }
    }
}
