import LarderSystem
import LarderFoundation
import LarderCore

/// Collects the bodies of answers: small ones in memory, large ones in files.
struct HTTPPayloads: Sendable {
    /// A body that is larger is put into a file.
    private static let mostInMemory = 1 << 17

    /// The longest time that the body of an error may take.
    private static let longestExplanation = Duration.seconds(1)

    /// The largest body, in bytes, after decoding.
    let capacity: Int
    let context: OriginContext

    /// Returns the whole body of the answer to a request with this method.
    ///
    /// - Parameters:
    ///   - partial: returns the call and the facts with which a large body is kept if it does not arrive completely.
    ///     Returns nil if it is not kept then.
    ///   - end: the uptime at which the body must be complete. The transport keeps it, too.
    /// - Throws: ``HTTPFailure`` if the body does not arrive completely, or is larger than the capacity.
    func payload(
        of answer: HTTPAnswer, to method: String, keeping partial: () -> (call: Call, facts: Metadata)?,
        by end: Duration
    ) async throws -> Payload {
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
            if bytes.count > Self.mostInMemory {
                return try await payload(of: answer.body, after: bytes, keeping: partial(), by: end)
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

    /// Collects a large body. A disk that hangs does not make the call longer.
    private func payload(
        of body: HTTPBody, after first: Data, keeping partial: (call: Call, facts: Metadata)?, by end: Duration
    ) async throws -> Payload {
        try await collected(by: end) { [self, context, capacity] in
            let sink = try? await context.world.blocking {
                guard let partial else { return try context.payloadSink(capacity: capacity) }
                return try context.payloadSink(continuing: partial.call, with: partial.facts, capacity: capacity)
            }
            guard let sink else { return try await inMemory(body, after: first) }
            return try await payload(of: body, after: first, in: sink)
        }
    }

    /// Collects the rest of a body whose beginning was kept.
    ///
    /// - Parameters:
    ///   - count: the number of bytes that must arrive.
    ///   - isLast: whether the payload is complete then.
    func payload(
        of unfinished: UnfinishedPayload, continuedBy body: HTTPBody, _ count: Int, isLast: Bool, by end: Duration
    ) async throws -> Payload {
        try await collected(by: end) { [self, capacity] in
            let sink = try unfinished.resume(capacity: capacity)
            return try await payload(of: body, after: Data(), in: sink, count, isLast: isLast)
        }
    }

    private func collected(
        by end: Duration, _ collect: @escaping @Sendable () async throws -> Payload
    ) async throws -> Payload {
        let collecting = AwaitableWork(in: context.world, collect)
        if let payload = try await collecting.value(within: end - context.world.uptime) { return payload }
        collecting.cancel()
        throw HTTPFailure(.timeout, "the answer was not complete within the limit")
    }

    /// Collects a large body in memory, because there is no folder for it.
    private func inMemory(_ body: HTTPBody, after first: Data) async throws -> Payload {
        var bytes = first
        while let chunk = try await body.next() {
            bytes.append(chunk)
            guard bytes.count <= capacity else { throw HTTPFailure.largerThanCapacity }
        }
        return Payload(bytes)
    }

    /// Collects a large body in a file.
    ///
    /// - Parameters:
    ///   - count: the number of bytes that must arrive; nil if the end of the body tells.
    ///   - isLast: whether the payload is complete then.
    private func payload(
        of body: HTTPBody, after first: Data, in sink: PayloadSink, _ count: Int? = nil, isLast: Bool = true
    ) async throws -> Payload {
        let world = context.world
        do {
            try await world.blocking { try sink.write(first) }
            var (size, arrived) = (sink.size, first.count)
            while let chunk = try await body.next() {
                (size, arrived) = (size + chunk.count, arrived + chunk.count)
                let isAllowed = size <= capacity
                guard isAllowed, arrived <= count ?? .max else {
                    // The bytes are of no use, or not what they were said to be.
                    _ = try? await world.blocking { sink.discard() }
                    throw isAllowed ? HTTPFailure.moreThanStated : HTTPFailure.largerThanCapacity
                }
                try await world.blocking { try sink.write(chunk) }
            }
            guard isLast, arrived == count ?? arrived else { throw HTTPFailure.incomplete }
        } catch {
            // The next call may come at once, so the file is closed before the error is thrown.
            _ = try? await world.blocking { sink.suspend() }
            throw error
        }
        return try await world.blocking { try sink.finish() }
    }
}

extension HTTPFailure {
    fileprivate static let moreThanStated = HTTPFailure(.malformed, "the answer is longer than it says")
    /// The failure of an answer of which not all has arrived.
    static let incomplete = HTTPFailure(.reset, "the answer ended before it was complete")
}
