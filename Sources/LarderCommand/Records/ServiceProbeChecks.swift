import Larder
import LarderSync
import LarderSystem

// Checks of the records and answers of a service.
extension ServiceProbe {
    /// The largest difference of the clocks of the service and this device that is not told.
    private static let clockTolerance = Duration.seconds(300)
    /// A position that no service gives.
    private static let unknownPosition = "larder-probe-no-such-position"

    /// Checks that records have what the policy says.
    mutating func checkRecords(_ records: [JSONText]) {
        if records.isEmpty { return find(.untried, "there are no records in which ids could be looked for") }
        let ids = records.compactMap { $0[service.id]?.name }.filter { !$0.isEmpty }
        check(ids.count, of: records.count, have: "an id at \(service.id)", "records.id")
        if Set(ids).count < ids.count { find(.wrong, "two records of a page have the same id", at: "records.id") }
        if let version = service.version {
            let count = records.count { $0[version].map { $0.kind != .null } ?? false }
            check(count, of: records.count, have: "a version at \(version)", "records.version")
        } else {
            find(
                .lacks, "records have no version, so a change may overwrite that of another device",
                at: "records.version")
        }
        if let updatedAt = service.updatedAt {
            let count = records.count { $0[updatedAt].flatMap(RecordService.time) != nil }
            check(count, of: records.count, have: "a time at \(updatedAt)", "records.updatedAt")
        }
    }

    private mutating func check(_ count: Int, of all: Int, have text: String, _ setting: String) {
        if count == all { return find(.ok, "all records of the first page have \(text)") }
        find(
            .wrong,
            "\(all - count) of \(counted(all, one: "record")) \(all - count == 1 ? "does" : "do") not have \(text)",
            at: setting)
    }

    /// Checks the time of the service.
    mutating func checkTime(_ page: ProbedPage) {
        guard pull?.declares("serverTime") == true else { return }
        guard let place = pull?["serverTime"], let pointer = JSONPointer(place) else {
            return find(
                .lacks, "the time of the next pull is that of the latest change, because answers tell none",
                at: "records.pull.serverTime")
        }
        guard let time = page.answer?[pointer].flatMap(RecordService.time) else { return }
        let offset = max(time - now, now - time)
        if offset <= Self.clockTolerance { return find(.ok, "the time at \(place) is that of this device's clock") }
        let side = time < now ? "behind" : "ahead of"
        find(
            offset < .seconds(86_400) ? .lacks : .wrong,
            "the time at \(place) is \(offset.brief) \(side) this device's clock, one of which is wrong",
            at: "records.pull.serverTime")
    }

    /// Checks that deletions can be seen.
    mutating func checkDeletions() {
        guard let pull, pull.declares("deleted") else { return }
        let isSeen = pull.name == "all" || ["deleted", "tombstone", "full"].contains { pull[$0] != nil }
        if !isSeen { find(.lacks, "deletions are never seen", at: "records.pull.full") }
        if let place = pull["deleted"], let pointer = JSONPointer(place),
            ![first, changed].contains(where: { $0?.answer?[pointer] != nil })
        {
            find(
                .lacks, "no list is at \(place), the place of deleted ids, in these answers", at: "records.pull.deleted"
            )
        }
        if let place = pull["epoch"], let pointer = JSONPointer(place), first?.answer?[pointer] == nil {
            find(.wrong, "an answer has no mark at \(place)", at: "records.pull.epoch")
        }
    }

    // MARK: Positions

    /// Asks twice for what has changed since the first pull.
    mutating func checkPosition(_ puller: any Puller, after pages: [ProbedPage]) async {
        guard let position else {
            if pull?.name != "all" {
                find(.lacks, "no position was told, so everything is fetched each time", at: "records.pull")
            }
            return
        }
        do {
            let once = try await page(puller, position: position, cursor: nil)
            changed = once
            let twice = try await page(puller, position: position, cursor: nil)
            let isSame = once.page.records.count == twice.page.records.count && once.page.next == twice.page.next
            if pull?.name == "token", !isSame {
                find(.wrong, "a token that is used twice leads to two answers, so a pull that was cut loses changes")
            } else {
                find(.ok, "the position works, and works again: \(counted(once.page.records.count, one: "record"))")
            }
            checkEffect(of: position, once.page.records, all: pages)
        } catch {
            find(.wrong, "the changes since the last pull: " + Self.reason(error), at: "records.pull")
        }
    }

    /// Checks that the service sends no records that are older than it was asked for.
    private mutating func checkEffect(of position: String, _ records: [JSONText], all: [ProbedPage]) {
        guard pull?.declares("since") == true, let updatedAt = service.updatedAt,
            let start = Self.time(of: position)
        else { return }
        let older = records.count { record in
            record[updatedAt].flatMap(RecordService.time).map { $0 < start - .seconds(1) } ?? false
        }
        if older == 0 { return }
        find(
            .wrong,
            "\(counted(older, one: "record is", many: "records are")) older than the time that was asked for: the "
                + "parameter '\(pull?["since"] ?? "")' has no effect", at: "records.pull.since")
    }

    /// Reads a position of the puller `since`.
    private static func time(of position: String) -> Timestamp? {
        if let number = Int64(position) { return RecordService.time(JSONText(integer: number)) }
        return RecordService.time(JSONText(string: position))
    }

    /// Asks with a position that the service cannot know.
    mutating func checkForgottenPosition(_ puller: any Puller) async {
        guard let pull, pull.declares("expired") else { return }
        do {
            _ = try await page(puller, position: Self.unknownPosition, cursor: nil)
            find(.wrong, "the service answers an unknown token, so changes may be missed after it forgets one")
        } catch PullError.positionExpired {
            find(.ok, "the service refuses an unknown token")
        } catch let error as LoadError where error.status != nil {
            find(
                .wrong,
                "the service refuses an unknown token with the status \(error.status ?? 0), which does not mean that "
                    + "it has expired", at: "records.pull.expired")
        } catch { find(.wrong, "an unknown token: " + Self.reason(error), at: "records.pull.expired") }
    }

    // MARK: Single records

    /// Looks up a record by its id, as after a conflict whose answer does not have it.
    mutating func checkLookup(_ records: [JSONText]) async {
        guard service.pusher != nil, push?["conflictRecord"] == nil, let id = records.first?[service.id]?.name else {
            return
        }
        countCall()
        do {
            if try await service.record(id) != nil { return find(.ok, "a record is found by its id") }
            find(
                .wrong, "a record of the first page is not found by its id, as is needed after a conflict",
                at: "origin.url"
            )
        } catch {
            find(
                .wrong, "a record is not found by its id, as is needed after a conflict: " + Self.reason(error),
                at: "origin.url")
        }
    }
}
