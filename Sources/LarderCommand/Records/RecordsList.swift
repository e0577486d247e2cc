import Larder
import LarderReports
import LarderSync

extension Subcommand {
    static let listRecords = Subcommand(
        name: "ls", operands: "RESOURCE", summary: "Lists records: digest of the id, state and age",
        options: .ofRecords + [
            Command.Option("limit", value: "N", help: "The most records that are listed of an account (default: 100)"),
            .values,
        ],
        example: "collections --data ~/.local/share/shop",
        run: { call in
            let limit = try call.arguments.number(of: "limit", in: 1...1_000_000, default: 100)
            let name = call.operands[0]
            func tellNone(_ resource: String) -> Bool {
                if call.isJSON { call.print(JSONText(["resource": .string(resource), "accounts": .list([])])) }
                call.terminal.note("\(resource.printable): there are no records yet")
                return true
            }
            return try await OpenRecords.open(name, of: call, for: .device, orElse: { tellNone(name) }) { open in
                let accounts = try await open.accounts()
                if accounts.isEmpty { return tellNone(open.resource ?? name) }
                var lists: [RecordList] = []
                for account in accounts {
                    let page = try await open.records(of: account).query(Query().limit(limit))
                    lists.append(RecordList(account: account, page: page))
                }
                if call.isJSON { call.print(open.json(of: lists)) } else { open.show(lists) }
                return true
            }
        })
}

/// The first records of an account.
private struct RecordList {
    let account: RecordAccount
    let page: RecordPage<JSONText>
}

extension OpenRecords {
    fileprivate func show(_ lists: [RecordList]) {
        let hasAccounts = lists.contains { $0.account.account != nil }
        var rows = [["digest"] + (hasAccounts ? ["account"] : []) + ["state", "age"]]
        var values = [["id", "value"]]
        for list in lists {
            for record in list.page.records {
                rows.append(
                    [digest(of: record.id, list.account)] + (hasAccounts ? [name(of: list.account)] : [])
                        + [record.state.word, age(record.receivedAt).aged])
                values.append([record.id.printable, record.value.shownText])
            }
        }
        let lines = Table(rows, left: hasAccounts ? 3 : 2).lines
        if rows.count > 1 {
            for (line, more) in zip(lines, Table(values, left: 2).lines) {
                call.terminal.print(showsValues ? line + "  " + more : line)
            }
        }
        for list in lists {
            let account = hasAccounts ? ", account \(name(of: list.account))" : ""
            let (shown, all) = (list.page.records.count, list.account.records)
            var facts = [shown < all ? "\(shown) of \(all) records; --limit shows more" : counted(all, one: "record")]
            if !list.page.isComplete { facts.append("not everything was fetched yet, so there may be more") }
            call.terminal.note("\(list.account.resource)\(account): " + facts.joined(separator: "; "))
        }
    }

    fileprivate func json(of lists: [RecordList]) -> JSONText {
        let accounts = lists.map { list in
            JSONText(object: [
                ("account", JSONText(json(of: list.account))), ("records", JSONText(.int(list.account.records))),
                ("complete", JSONText(.bool(list.page.isComplete))),
                ("listed", JSONText(list: list.page.records.map { json(of: $0, list.account) })),
            ])
        }
        return JSONText(object: [
            ("resource", JSONText(.string(resource ?? ""))), ("accounts", JSONText(list: accounts)),
        ])
    }

    /// Returns a record in JSON.
    func json(of record: Record<JSONText>, _ account: RecordAccount) -> JSONText {
        var members = JSONText.Members()
        members.add("digest", digest(of: record.id, account))
        members.add("state", record.state.word)
        members.add("age_ms", JSONText(age(record.receivedAt).milliseconds))
        members.add("temporary", record.isTemporary)
        if showsValues {
            members.add("id", record.id)
            members.add("value", record.value)
        }
        return JSONText(object: members)
    }
}
