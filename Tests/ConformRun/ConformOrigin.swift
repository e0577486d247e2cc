import LarderFoundation
import Larder
import LarderSimulation

extension ConformRow.Answer {
    /// The behaviour of the origin.
    func act(
        _ strategy: ConformRow.Strategy, _ scale: PayloadScale, in world: any World
    ) -> ScriptedOrigin.Act {
        switch ending {
        case .failure(let kind): return .throwing(OriginFailure(kind: kind), after: after)
        case .status(304): return .unchanged(after: after) { try describe(&$0, strategy, at: world.now) }
        case .status(let status) where isError(status, strategy):
            return .failure(error(status, strategy), after: after)
        case .status(let status):
            let payload = scale.payload(body)
            return .answering(after: after) { _ in
                var entry = Entry(payload, Metadata(status: status))
                try describe(&entry.metadata, strategy, at: world.now)
                return entry
            }
        }
    }

    private var isConfirmation: Bool { if case .status(304) = ending { true } else { false } }

    /// Whether a status is delivered as an error.
    private func isError(_ status: Int, _ strategy: ConformRow.Strategy) -> Bool {
        status >= 400 || strategy.failureStatuses?.contains(status) == true
    }

    /// Returns the error of a status. The row can say which statuses count as failures.
    private func error(_ status: Int, _ strategy: ConformRow.Strategy) -> LoadError {
        var fields = Fields()
        for header in headers { fields[header.name] = header.value }
        var error = LoadError.status(status, reply: Reply(status: status, fields: fields, body: body))
        if let failures = strategy.failureStatuses { error.code = failures.contains(status) ? .failed : .answer }
        return error
    }

    /// Adds the facts that the answer names to the metadata of an entry.
    private func describe(
        _ metadata: inout Metadata, _ strategy: ConformRow.Strategy, at now: Timestamp
    ) throws {
        if strategy.honoursHTTP {
            // In a row, the age of an answer counts from its arrival.
            if isConfirmation {
                try metadata.confirm(httpFields: Fields(headers), askedAt: now, arrivedAt: now)
            } else {
                metadata = Metadata(
                    httpStatus: metadata.status ?? 200, fields: Fields(headers), askedAt: now, arrivedAt: now)
            }
        } else {
            for header in headers { metadata.fields[header.name] = header.value }
        }
        metadata.etag = validators.etag ?? metadata.etag
        metadata.lastModified = validators.lastModified ?? metadata.lastModified
        // An entry without a lifetime of its own has that of the strategy.
        metadata[.lifetime] =
            strategy.usesAnswerLifetime && !strategy.honoursHTTP ? ttl.map { Int($0.nanoseconds) } : nil
    }
}

extension Fields {
    /// Creates the fields of an answer or an entry.
    init(_ headers: [ConformRow.Header]) {
        self.init()
        for header in headers {
            if let field = Field(header.name, header.value) { add(field) }
        }
    }
}
