import Larder
import LarderSync

// Deleting what the probe has made.
extension ServiceProbe {
    /// Deletes what was made, and looks whether pulls tell it.
    mutating func deleteAll(_ made: inout [Made], _ pusher: any Pusher) async {
        for (number, record) in made.enumerated() {
            var record = record
            if service.version != nil, let present = await found(record.id) {
                record.version = service.version.flatMap { present[$0] }
            }
            let deletion = PushedChange(
                .delete, id: record.id, key: Self.newID(), record: nil, version: record.version,
                madeAt: now.nanoseconds / 1_000_000)
            guard let outcome = await send(deletion, by: pusher, to: "delete a record") else {
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
            } while cursor != nil && pages < 30
        } catch { return find(.wrong, "the changes after a deletion: " + Self.reason(error)) }
        if isTold || pull?.name == "all" && !seen { return find(.ok, "the deletion is told to other devices") }
        let setting = pull?["deleted"] != nil ? "records.pull.deleted" : "records.pull.full"
        find(seen ? .wrong : .lacks, "the deletion is not told to other devices", at: setting)
    }
}
