import Larder
import LarderReports
import LarderSync

extension Subcommand {
    static let syncStatus = Subcommand(
        name: "status", operands: "[RESOURCE]",
        summary: "Shows what waits, what was refused, and the last complete pull",
        options: .ofRecords + [.values], example: "--data ~/.local/share/shop",
        run: { call in
            func tellNone() -> Bool {
                call.print(["there are no records yet"], json: ["accounts": .list([])])
                return true
            }
            let name = call.operands.first
            return try await OpenRecords.open(name, of: call, for: .device, needs: .outbox, orElse: tellNone) { open in
                let accounts = try await open.accounts()
                if accounts.isEmpty { return tellNone() }
                call.print(
                    open.table(of: accounts) + [""] + accounts.map(open.balance),
                    json: ["accounts": .list(accounts.map(open.status))])
                return true
            }
        })
}

extension OpenRecords {
    fileprivate func table(of accounts: [RecordAccount]) -> [String] {
        let hasAccounts = accounts.contains { $0.account != nil }
        let rows = accounts.map { account in
            [account.resource.printable] + (hasAccounts ? [name(of: account)] : []) + [
                "\(account.records)", "\(account.changes.waiting)", age(account.oldestWaiting).aged,
                "\(account.held)", "\(account.letters)",
                account.lastPull == nil ? "never" : age(account.lastPull).aged + " ago",
            ]
        }
        let columns = ["records", "waiting", "oldest", "held", "letters", "last pull"]
        return Table([["resource"] + (hasAccounts ? ["account"] : []) + columns] + rows, left: hasAccounts ? 2 : 1)
            .lines
    }

    /// Returns the account of all changes that were made.
    fileprivate func balance(_ account: RecordAccount) -> String {
        let changes = account.changes
        let parts = [
            (changes.accepted, "accepted"), (changes.merged, "merged"), (changes.overtaken, "overtaken"),
            (changes.rejected, "refused"), (changes.expired, "expired"), (changes.discarded, "discarded"),
            (changes.waiting, "waiting"),
        ].filter { $0.0 != 0 }
        let owner = account.account == nil ? "" : ", account \(name(of: account))"
        let isPolicyGone = !policies.contains { $0.resource == account.resource }
        return "\(account.resource.printable)\(owner): \(counted(changes.made, one: "change")) made"
            + (parts.isEmpty ? "" : " = " + parts.map { "\($0.0) \($0.1)" }.joined(separator: " + "))
            + "; " + (changes.unaccounted == 0 ? "nothing is unaccounted" : "UNACCOUNTED: \(changes.unaccounted)")
            + (account.isPullUnfinished ? "; a pull is not finished" : "")
            + (account.pullFailure.map { "; the last pull failed: \($0.printable)" } ?? "")
            + (account.quarantined == 0
                ? "" : "; \(counted(account.quarantined, one: "record")) of the service set aside")
            + (isPolicyGone ? "; no policy has these records now" : "")
    }

    fileprivate func status(_ account: RecordAccount) -> JSON {
        let changes = account.changes
        return [
            "resource": .string(account.resource), "account": json(of: account), "records": .int(account.records),
            "made": .int(changes.made), "accepted": .int(changes.accepted), "merged": .int(changes.merged),
            "overtaken": .int(changes.overtaken), "refused": .int(changes.rejected), "expired": .int(changes.expired),
            "discarded": .int(changes.discarded), "waiting": .int(changes.waiting),
            "unaccounted": .int(changes.unaccounted), "oldestWaiting_ms": age(account.oldestWaiting).milliseconds,
            "held": .int(account.held), "letters": .int(account.letters), "quarantined": .int(account.quarantined),
            "lastPull_ms": age(account.lastPull).milliseconds, "pullUnfinished": .bool(account.isPullUnfinished),
            "pullFailure": account.pullFailure.map(JSON.string) ?? .null,
        ]
    }
}
