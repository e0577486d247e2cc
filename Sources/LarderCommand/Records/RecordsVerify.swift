import Larder
import LarderSync

extension Subcommand {
    static let verifyRecords = Subcommand(
        name: "verify", operands: "[RESOURCE]",
        summary:
            "Checks the database, the counts of changes, and what each record shows",
        options: [.policies, .data, .assume, .values], example: "--data ~/.local/share/shop",
        run: { call in
            func tellNone() -> Bool {
                call.print(["there are no records yet"], json: ["readable": .null, "accounts": .list([])])
                return true
            }
            let name = call.operands.first
            return try await OpenRecords.open(name, of: call, for: .device, orElse: tellNone) { open in
                let progress = Progress(call.terminal, "records verify")
                let check: RecordCheck?
                do {
                    defer { progress.end() }
                    check = try await open.pantry.checkRecords { progress.show($0, "\(Int($0 * 100)) % checked") }
                }
                guard let check else { return tellNone() }
                let accounts = check.accounts.filter { open.resource == nil || $0.resource == open.resource }
                let lines = accounts.map(open.line) + open.endLines(check)
                call.print(
                    lines, json: ["readable": .bool(check.isReadable), "accounts": .list(accounts.map(open.json))])
                return check.isReadable && accounts.allSatisfy(\.isSound)
            }
        })
}

extension OpenRecords {
    fileprivate func endLines(_ check: RecordCheck) -> [String] {
        if check.isReadable { return ["the database is whole"] }
        return [
            "the database is damaged. The next change of the app sets it aside, and begins a new one with every row that is "
                + "sound"
        ]
    }

    fileprivate func line(_ account: RecordCheck.Account) -> String {
        let owner = account.account == nil ? "" : ", account \(name(of: account.account, account.resource))"
        let all = counted(account.records, one: "record")
        let waiting = counted(account.waiting, one: "waiting change")
        var wrong: [String] = []
        if account.wronglyShown > 0 {
            wrong.append(
                counted(account.wronglyShown, one: "record is", many: "records are")
                    + " not shown as the service sent it with the user's changes on it")
        }
        if account.withoutRecord > 0 {
            wrong.append(counted(account.withoutRecord, one: "change has", many: "changes have") + " lost the record")
        }
        if account.miscounted != 0 {
            wrong.append("\(account.waiting + account.miscounted) changes are counted as waiting")
        }
        if account.unaccounted != 0 { wrong.append("\(account.unaccounted) changes are unaccounted") }
        return "\(account.resource)\(owner): \(all), \(waiting); "
            + (wrong.isEmpty ? "nothing is wrong" : "WRONG: " + wrong.joined(separator: "; "))
    }

    fileprivate func json(_ account: RecordCheck.Account) -> JSON {
        [
            "resource": .string(account.resource), "account": json(of: account.account, account.resource),
            "records": .int(account.records), "waiting": .int(account.waiting),
            "wronglyShown": .int(account.wronglyShown), "withoutRecord": .int(account.withoutRecord),
            "miscounted": .int(account.miscounted), "unaccounted": .int(account.unaccounted),
            "sound": .bool(account.isSound),
        ]
    }
}
