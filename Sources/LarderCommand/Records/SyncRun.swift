import Larder
import LarderSync
import LarderSystem

extension Subcommand {
    static let runSync = Subcommand(
        name: "run", operands: "RESOURCE", summary: "Sends what waits and fetches what is new, now",
        options: .ofServices + [
            .cache,
            Command.Option(
                "within", value: "DURATION", help: "The longest time of the whole run, such as 30s (default: none)"),
            .values,
        ],
        example: "collections --within 30s",
        run: { call in
            let limit = try call.arguments.duration(of: "within")
            return try await OpenRecords.open(call.operands[0], of: call, for: .service, orElse: { false }) { open in
                let name = open.resource ?? ""
                let known = try await open.accounts().map(\.account)
                let start = call.terminal.uptime()
                var results: [SyncResult] = []
                for account in open.account.map({ [$0] }) ?? (known.isEmpty ? [nil] : known) {
                    let left = limit.map { max(.zero, $0 - (call.terminal.uptime() - start)) }
                    var result = try await open.sync(name, of: account, within: left)
                    if !result.hasEnded, let limit { result.failure = "not done within \(limit.spelled)" }
                    results.append(result)
                }
                call.print(
                    results.flatMap { $0.lines(in: open) },
                    json: ["resource": .string(name), "accounts": .list(results.map { $0.json(in: open) })])
                return results.allSatisfy(\.isDone)
            }
        })
}

/// The result of a run for an account: the numbers of records and changes that came together.
struct SyncResult {
    /// The numbers of a run.
    enum Number: String, CaseIterable {
        case pages = "sync_pages"
        case rows = "sync_rows"
        case accepted = "sync_accepted"
        case refused = "sync_rejected"
        case overtaken = "sync_overtaken"
        case conflicts = "sync_conflicts"
        case quarantined = "sync_quarantined"
    }

    let resource: String
    let account: String?
    var numbers: [Number: Int] = [:]
    var waiting = 0
    /// The number of changes that are not sent any more and can be made again.
    var letters = 0
    /// The reason for which it failed; nil if it did not.
    var failure: String?

    /// False if its time was over before.
    var hasEnded = true

    /// Whether everything came together.
    var isDone: Bool { failure == nil && waiting == 0 && self[.refused] == 0 && self[.quarantined] == 0 }

    subscript(number: Number) -> Int { numbers[number] ?? 0 }

    /// The numbers so far, in words.
    var progress: String {
        "\(counted(self[.rows], one: "record")) fetched, \(counted(self[.accepted], one: "change")) sent"
    }
}

extension OpenRecords {
    /// Brings the records of an account together with the service.
    ///
    /// - Parameters:
    ///   - name: the resource.
    ///   - account: the account.
    ///   - limit: the longest time; nil for none.
    func sync(_ name: String, of account: String?, within limit: Duration?) async throws -> SyncResult {
        let records = pantry.records(name, scope: account)
        let start = pantry.metrics[name]
        @Sendable func run() -> SyncResult {
            var run = SyncResult(resource: name, account: account)
            let metrics = pantry.metrics[name]
            for number in SyncResult.Number.allCases {
                let count = (metrics?[number.rawValue] ?? 0) - (start?[number.rawValue] ?? 0)
                run.numbers[number] = Int(clamping: count)
            }
            return run
        }
        let progress = Progress(call.terminal, "sync run")
        let showing = SystemWorld().spawn { [terminal = call.terminal] in
            while (try? await terminal.pause(.milliseconds(100))) != nil { progress.show(nil, run().progress) }
        }
        let work = AwaitableWork(in: SystemWorld()) { try await records.sync() }
        var (failure, hasEnded): (String?, Bool) = (nil, true)
        do {
            hasEnded = try await work.value(within: limit) != nil
        } catch let error where error is RecordError || error is LoadError { failure = "\(error)" }
        work.cancel()
        showing.cancel()
        await showing.value
        progress.end()
        var result = run()
        (result.failure, result.hasEnded) = (failure, hasEnded)
        let kept = try await pantry.recordAccounts().first { $0.resource == name && $0.account == account }
        (result.waiting, result.letters) = (kept?.changes.waiting ?? 0, kept?.letters ?? 0)
        return result
    }
}

extension SyncResult {
    fileprivate func lines(in open: OpenRecords) -> [String] {
        let owner = account == nil ? "" : ", account \(open.name(of: account, resource))"
        let title = resource.printable + owner + ": "
        var lines: [String] = []
        if failure == nil || self[.pages] > 0 {
            lines.append(
                title + "fetched \(counted(self[.rows], one: "record or deletion", many: "records and deletions"))"
                    + " in \(counted(self[.pages], one: "page"))")
        }
        lines.append(
            title + "\(counted(self[.accepted], one: "change")) accepted, \(self[.refused]) refused, "
                + "\(self[.overtaken]) overtaken, \(waiting) waiting")
        if self[.conflicts] > 0 { lines.append(title + "\(counted(self[.conflicts], one: "conflict")) met") }
        if self[.quarantined] > 0 {
            lines.append(
                title + "\(counted(self[.quarantined], one: "record")) of the service made no sense, and "
                    + (self[.quarantined] == 1 ? "was set aside" : "were set aside"))
        }
        if letters + waiting > 0 { lines.append("'larder outbox ls \(resource.printable)' lists them") }
        if let failure { lines.append(title + "FAILED: \(failure). What came before it stays") }
        return lines
    }

    fileprivate func json(in open: OpenRecords) -> JSON {
        .joined(
            ["account": open.json(of: account, resource), "done": .bool(isDone)],
            ["failure": failure.map(JSON.string) ?? .null, "waiting": .int(waiting)],
            .each(Number.allCases) { ("\($0)", .int(self[$0])) })
    }
}
