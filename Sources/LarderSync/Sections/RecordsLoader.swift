import Larder
import LarderFoundation
import LarderSystem

/// Answers loads from the table of records: one record for a request with the parameter `id`, or else the list of all.
struct RecordsLoader: Loader {
    let attachment: RecordsAttachment

    /// The most records in a list, which is one value in memory.
    private static let mostRecords = 100_000

    /// The time that reading may always take, even if the caller's deadline is nearer.
    private static let readingTime = Duration.milliseconds(20)

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let isAsked = call.request.mode == .refresh
        let failure = isAsked ? try await sync(call) : nil
        do { return try await read(call, fellBack: failure != nil) } catch let error as LoadError
            where error.code == .notCached && call.request.mode != .cachedOnly && attachment.work != nil
        {
            // Nothing that may be shown is known yet, so there is nothing to show while the service is asked.
            if let failure = isAsked ? failure : try await sync(call) {
                throw Self.loadError(failure)
            }
            return try await read(call, fellBack: false)
        }
    }

    /// Brings the records together with the service, for at most as long as the caller waits for it.
    ///
    /// - Returns: the error because of which that failed; nil if it was done, or if the policy says nothing of it.
    private func sync(_ call: Call) async throws -> (any Error)? {
        guard let work = attachment.work else { return nil }
        let world = attachment.world
        let run = AwaitableWork(in: world) { [table = table(of: call)] in try await work.sync(table) }
        do {
            let limit = call.deadline.map { max($0 - world.uptime, .zero) }
            return try await run.value(within: limit) == nil
                ? LoadError(.deadline, "the caller's deadline passed") : nil
        } catch {
            try Task.checkCancellation()
            return error
        }
    }

    private static func loadError(_ failure: any Error) -> any Error {
        guard let failure = failure as? RecordError else { return failure }
        let code: LoadError.Code = failure.code == .unavailable ? .unavailable : .failed
        return LoadError(failure.code == .notSignedIn ? .notSignedIn : code, failure.description, origin: failure)
    }

    private func table(of call: Call) -> RecordTable {
        RecordTable(resource: attachment.resource, scope: call.request.key.scope)
    }

    private func read(_ call: Call, fellBack: Bool) async throws -> Loaded<Entry> {
        guard let deadline = call.deadline else { return try await answer(call, fellBack: fellBack) }
        let world = attachment.world
        let limit = max(deadline - world.uptime, Self.readingTime)
        let reading = AwaitableWork(in: world) { try await answer(call, fellBack: fellBack) }
        if let loaded = try await reading.value(within: limit) { return loaded }
        reading.cancel()
        throw LoadError(.deadline, "the caller's deadline passed")
    }

    private func answer(_ call: Call, fellBack: Bool) async throws -> Loaded<Entry> {
        let (parameters, table) = (call.request.parameters, table(of: call))
        if let id = parameters["id"], parameters.count == 1 {
            return try await record(id, of: table, call, fellBack: fellBack)
        }
        guard parameters.isEmpty else {
            throw LoadError(.invalidRequest, "a load of records has the parameter 'id' or none")
        }
        return try await list(of: table, call, fellBack: fellBack)
    }

    private func record(
        _ id: String, of table: RecordTable, _ call: Call, fellBack: Bool
    ) async throws -> Loaded<Entry> {
        let lookup = try await attachment.lookUp([id], of: table)
        guard let record = lookup.found[id] else {
            // That there is none is as good an answer as the service's own.
            if lookup.absent.contains(id) {
                if call.request.noOlderThan != nil, try await !isDeletedHere(id, of: table) {
                    let pull = try await attachment.reading { try $0.facts(of: table).pull }
                    try checkAge(since: pull.completedAt, call)
                }
                throw LoadError(.answer, "there is no such record", status: 404)
            }
            throw LoadError(.notCached, "it is not known whether there is such a record")
        }
        // A record that only the user has made has no age.
        let pull = try await attachment.reading { try $0.facts(of: table).pull }
        // A complete pull has told whether it has changed since.
        let received = record.receivedAt.map { max($0, completedAt(pull) ?? $0) }
        if received != nil { try checkAge(since: received, call) }
        call.trail.note("records", .record)
        return answer(record.shown, receivedAt: received, pull, fellBack: fellBack)
    }

    private func list(of table: RecordTable, _ call: Call, fellBack: Bool) async throws -> Loaded<Entry> {
        let selection = RecordSelection(limit: Self.mostRecords + 1)
        let (stored, pull, _) = try await attachment.reading { try $0.page(selection, of: table) }
        if stored.isEmpty, !attachment.isComplete(pull) { throw LoadError(.notCached, "no records are known yet") }
        if stored.count > Self.mostRecords {
            throw LoadError(.failed, "there are more than \(Self.mostRecords) records; ask for them by queries")
        }
        try checkAge(since: completedAt(pull), call)
        call.trail.note("records", .list(stored.count, isComplete: attachment.isComplete(pull)))
        let text = JSONText(list: stored.map(\.shown))
        return answer(text, receivedAt: completedAt(pull), pull, fellBack: fellBack)
    }

    /// The time of the last complete pull of the present source; nil if there was none.
    private func completedAt(_ pull: PullState) -> Int64? { attachment.isComplete(pull) ? pull.completedAt : nil }

    /// Returns whether the user has deleted a record.
    private func isDeletedHere(_ id: String, of table: RecordTable) async throws -> Bool {
        try await attachment.reading { try $0.row(id, of: table) } != nil
    }

    /// Checks that what the service sent is as young as the request asks for.
    ///
    /// - Parameter received: the time at which it was received, in milliseconds since 1970; nil if it is not complete.
    private func checkAge(since received: Int64?, _ call: Call) throws {
        guard let limit = call.request.noOlderThan else { return }
        let age = received.map { attachment.world.now - Timestamp(milliseconds: $0) }
        // The age of what comes from the future is not known.
        if let age, age >= .zero, age < limit { return }
        throw LoadError(.notCached, "the records are older than the request allows")
    }

    /// Returns an answer. It is fresh until the policy asks the service again.
    private func answer(
        _ text: JSONText, receivedAt: Int64?, _ pull: PullState, fellBack: Bool
    ) -> Loaded<Entry> {
        let now = attachment.world.now
        let received = receivedAt.map { Timestamp(milliseconds: $0) }
        var metadata = Metadata(fetchedAt: received ?? now)
        metadata.contentType = "application/json"
        let age = received.map { max(.zero, now - $0) }
        return Loaded(
            Entry(Data(text.bytes), metadata), from: .store("records"),
            freshness: isFresh(pull, at: now) ? .fresh : .stale, age: age, isStored: true, fellBack: fellBack)
    }

    private func isFresh(_ pull: PullState, at now: Timestamp) -> Bool {
        guard let every = attachment.work?.pullInterval, attachment.isComplete(pull), let completed = pull.completedAt
        else { return false }
        let age = now - Timestamp(milliseconds: completed)
        return age >= .zero && age < every
    }
}

extension Trail.Event {
    fileprivate static let record = Trail.Event("record", "the record as it is on this device")

    fileprivate static func list(_ count: Int, isComplete: Bool) -> Trail.Event {
        let known = isComplete ? "all that there were at the last complete pull" : "all that are known yet"
        return Trail.Event("records", "\(.records, count) records, \(.known, known)")
    }
}

extension Trail.Fact<Int> {
    fileprivate static var records: Self { "records" }
}

extension Trail.Fact<String> {
    fileprivate static var known: Self { "known" }
}
