import Larder

/// A page whose records were told apart: those that can be merged, and those that make no sense.
struct SortedPage: Sendable {
    var page: PulledPage
    /// Records that are set aside.
    var bad: [JSONText] = []

    /// The most bytes of a record, and of an id or another mark of the service.
    private static let (longestRecord, longestMark) = (16_000_000, 10_000)

    /// Sorts the records of a page.
    ///
    /// - Parameter setsAside: whether some records may make no sense.
    /// - Throws: ``PullError/malformed(_:)`` if most records of the page make no sense, or one does and none may, or a mark is
    ///   too long.
    init(_ pulled: PullPage, by rules: SyncRules, setsAside: Bool = true) throws(PullError) {
        for mark in [pulled.next, pulled.position, pulled.epoch] where (mark?.utf8.count ?? 0) > Self.longestMark {
            throw .malformed("a cursor, position or epoch is longer than \(Self.longestMark) bytes")
        }
        page = PulledPage(records: [], next: pulled.next, position: pulled.position, epoch: pulled.epoch)
        for record in pulled.records {
            guard record.kind == .object, record.bytes.count <= Self.longestRecord, let idText = record[rules.idPath],
                let id = idText.name, !id.isEmpty, id.utf8.count <= Self.longestMark, !TemporaryID.isOne(id)
            else {
                bad.append(record)
                continue
            }
            page.records.append(PulledRecord(id: id, idText: idText, record: record))
        }
        let present = pulled.deleted.isEmpty ? RecordIDs() : RecordIDs(page.records.map(\.id))
        page.deleted = pulled.deleted.filter {
            $0.utf8.count <= Self.longestMark && !present.contains($0) && !TemporaryID.isOne($0)
        }
        if bad.count * 2 > pulled.records.count || !setsAside && !bad.isEmpty {
            throw .malformed("\(bad.count) of \(pulled.records.count) records have no id, or are no objects")
        }
    }
}
