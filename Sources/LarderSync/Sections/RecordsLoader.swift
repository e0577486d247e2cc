import Larder
import LarderFoundation
import LarderSystem

/// Answers loads from the table of records: one record for a request with the parameter `id`, or else the list of all.
struct RecordsLoader: Loader {
    let attachment: RecordsAttachment

    /// The most records in a list, which is one value in memory.
    private static let mostRecords = 100_000

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let table = RecordTable(resource: attachment.resource, scope: call.request.key.scope)
        let parameters = call.request.parameters
        if let id = parameters["id"], parameters.count == 1 { return try await record(id, of: table, call) }
        guard parameters.isEmpty else {
            throw LoadError(.invalidRequest, "a load of records has the parameter 'id' or none")
        }
        return try await list(of: table, call)
    }

    private func record(_ id: String, of table: RecordTable, _ call: Call) async throws -> Loaded<Entry> {
        let lookup = try await attachment.lookUp([id], of: table)
        guard let record = lookup.found[id] else {
            // That there is none is as good an answer as the service's own.
            if lookup.absent.contains(id) { throw LoadError(.answer, "there is no such record", status: 404) }
            throw LoadError(.notCached, "it is not known whether there is such a record")
        }
        call.trail.note("records", .record)
        return answer(record.shown, receivedAt: record.receivedAt)
    }

    private func list(of table: RecordTable, _ call: Call) async throws -> Loaded<Entry> {
        let selection = RecordSelection(limit: Self.mostRecords + 1)
        let (stored, pull) = try await attachment.reading { database in
            (try database.records(selection, of: table), try database.facts(of: table).pull)
        }
        if stored.isEmpty, !attachment.isComplete(pull) { throw LoadError(.notCached, "no records are known yet") }
        if stored.count > Self.mostRecords {
            throw LoadError(.failed, "there are more than \(Self.mostRecords) records; ask for them by queries")
        }
        call.trail.note("records", .list(stored.count, isComplete: attachment.isComplete(pull)))
        return answer(JSONText(list: stored.map(\.shown)), receivedAt: pull.completedAt)
    }

    /// Returns an answer. It is stale, because the service has not been asked.
    private func answer(_ text: JSONText, receivedAt: Int64?) -> Loaded<Entry> {
        let received = receivedAt.map { Timestamp(milliseconds: $0) }
        var metadata = Metadata(fetchedAt: received ?? attachment.world.now)
        metadata.contentType = "application/json"
        let age = received.map { max(.zero, attachment.world.now - $0) }
        return Loaded(
            Entry(Data(text.bytes), metadata), from: .store("records"), freshness: .stale, age: age, isStored: true)
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
