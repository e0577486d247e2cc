import Larder
import LarderSync

// Deleting what the probe has made.
extension ServiceProbe {
    /// Deletes the records that were made, and looks whether pulls tell it.
    mutating func deleteAll(_ made: [Made], _ pusher: any Pusher) async {
        for (number, record) in made.enumerated() {
            guard let outcome = await delete(record, by: pusher) else {
                find(.wrong, "the record of the probe is still at the service")
                continue
            }
            guard case .accepted = outcome else {
                find(
                    .wrong,
                    "a deletion is answered with \(Self.words(outcome)); the record of the probe is still at the service",
                    at: "records.push.delete")
                continue
            }
            if number > 0 { continue }
            find(.ok, "a deletion is accepted")
            await checkDeletionIsTold(record)
        }
    }

    /// Deletes the record of a change whose answer is not known: by its id, or by looking for the record in a pull.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - made: the records that are known, and were deleted.
    ///   - pusher: the way to the service.
    mutating func deleteLost(_ change: PushedChange, beside made: [Made], _ pusher: any Pusher) async {
        if let id = change.id, made.contains(where: { $0.id == id }) { return }
        var lost = change.id.map { Made(id: $0) }
        if lost == nil { lost = await search(for: change, beside: made) }
        if let lost, case .accepted = await delete(lost, by: pusher) {
            return find(.ok, "the record of the unknown answer is not at the service any more")
        }
        find(.wrong, "a record of the probe may be at the service")
    }

    /// Deletes a record, with its present version. If that is another one by then, it is sent once more.
    private mutating func delete(_ record: Made, by pusher: any Pusher) async -> WriteOutcome? {
        var version = record.version
        if let place = service.version {
            var present = await found(record.id)
            if present == nil, let name = record.id.name {
                present = await allRecords()?.last { $0[service.id]?.name == name }
            }
            if let present { version = present[place] }
        }
        for isLast in [false, true] {
            let deletion = PushedChange(
                .delete, id: record.id, key: Self.newID(), record: nil, version: version,
                madeAt: now.nanoseconds / 1_000_000)
            let outcome = await send(deletion, by: pusher, to: "delete a record")
            guard !isLast, case .conflict(let present, let newer)? = outcome else { return outcome }
            version = newer ?? service.version.flatMap { present[$0] }
        }
        return nil
    }

    /// Returns the record that a change has made. It is the only new one with all of the change's values.
    private func search(for change: PushedChange, beside made: [Made]) async -> Made? {
        guard let ids, let wanted = change.record?.members, !wanted.isEmpty else { return nil }
        let known = ids.union(made.compactMap(\.id.name))
        let fixed = [service.id, service.version, service.updatedAt].compactMap { $0?.steps }
        let sought = wanted.filter { !fixed.contains([$0.name]) }
        guard !sought.isEmpty, let records = await allRecords() else { return nil }
        let new = records.filter { record in
            guard let name = record[service.id]?.name, !known.contains(name) else { return false }
            return sought.allSatisfy { record[$0.name] == $0.value }
        }
        guard new.count == 1, let id = new[0][service.id] else { return nil }
        return Made(id: id, record: new[0], version: service.version.flatMap { new[0][$0] })
    }

    /// Returns all records; nil if they cannot be fetched.
    private func allRecords() async -> [JSONText]? {
        guard let puller = service.puller else { return nil }
        var (records, cursor): ([JSONText], String?) = ([], nil)
        for _ in 0..<Self.mostPages {
            guard let page = try? await page(puller, position: nil, cursor: cursor).page else { return nil }
            records += page.records
            cursor = page.next
            if cursor == nil { return records }
        }
        return nil
    }

    private mutating func checkDeletionIsTold(_ record: Made) async {
        guard let puller = service.puller, let name = record.id.name else { return }
        guard pull?.name == "all" || position != nil else { return }
        var (cursor, seen, isTold, pages): (String?, Bool, Bool, Int) = (nil, false, false, 0)
        do {
            repeat {
                let found = try await page(puller, position: position, cursor: cursor).page
                seen = seen || found.records.contains { $0[service.id]?.name == name }
                isTold = isTold || found.deleted.contains(name)
                (cursor, pages) = (found.next, pages + 1)
            } while cursor != nil && pages < Self.mostPages
        } catch { return find(.wrong, "the changes after a deletion: " + Self.reason(error)) }
        if isTold || pull?.name == "all" && !seen { return find(.ok, "the deletion is told to other devices") }
        let setting = pull?["deleted"] != nil ? "records.pull.deleted" : "records.pull.full"
        find(seen ? .wrong : .lacks, "the deletion is not told to other devices", at: setting)
    }
}
