import LarderSystem
import LarderCore

/// Large answers that break off go on where they stopped.
extension HTTPOrigin {
    /// Returns the beginning of an earlier answer to a request, whose rest can be asked for; nil if there is none.
    func resumption(of request: HTTPRequest, for call: Call, by end: Duration) async throws -> HTTPResumption? {
        guard settings.resume, !call.isSend, request.method == "GET", request.body == nil else { return nil }
        let unfinished = try await payloads.context.unfinishedPayload(for: call, within: end - world.uptime) {
            HTTPResumption.suits($0, request)
        }
        return unfinished.map(HTTPResumption.init)
    }

    /// Returns the facts with which an answer is kept if it breaks off. Returns nil if it cannot go on.
    func facts(of exchange: HTTPExchange, to request: HTTPRequest, for call: Call) -> (call: Call, facts: Metadata)? {
        guard settings.resume, !call.isSend else { return nil }
        return HTTPResumption.facts(of: exchange, to: request, for: call.key).map { (call, $0) }
    }

    /// Returns the answer that consists of a beginning and of the rest that has arrived.
    ///
    /// - Parameter count: the number of bytes that the exchange brings.
    func rest(
        _ count: Int, of resumption: HTTPResumption, _ exchange: HTTPExchange, for call: Call, by end: Duration
    ) async throws -> Loaded<Entry> {
        let (answer, unfinished) = (exchange.answer, resumption.unfinished)
        do {
            try checkType(resumption.metadata.contentType, 200)
            guard count <= payloads.capacity - unfinished.size else { throw HTTPFailure.largerThanCapacity }
        } catch {
            answer.body.cancel()
            await discard(resumption)
            throw error
        }
        call.trail.note("http", .resumed(after: unfinished.size))
        let payload = try await payloads.payload(
            of: unfinished, continuedBy: answer.body, count, isLast: resumption.isComplete(with: answer), by: end)
        return Loaded(Entry(payload, try resumption.metadata(after: exchange, at: world.now)))
    }

    /// Deletes the beginning of an answer.
    func discard(_ resumption: HTTPResumption) async {
        _ = try? await world.blocking { resumption.unfinished.discard() }
    }
}

extension Trail.Event {
    /// The origin sends the rest of an answer that broke off.
    fileprivate static func resumed(after size: Int) -> Trail.Event {
        Trail.Event("resumed", "the answer goes on after \("size", size) bytes")
    }
}
