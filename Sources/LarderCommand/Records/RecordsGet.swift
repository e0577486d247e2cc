import Larder
import LarderReports
import LarderSync

extension Subcommand {
    static let showRecord = Subcommand(
        name: "get", operands: "RESOURCE ID|DIGEST", summary: "Tells whether a record is there, and its state",
        options: .ofRecords + [.values], example: "collections 0b5ce0a39c04 --values",
        run: { call in
            func tellNone() -> Bool {
                call.tell(.unknown, because: "there are no records yet")
                return false
            }
            return try await OpenRecords.open(call.operands[0], of: call, for: .device, orElse: tellNone) { open in
                let accounts = try await open.accounts()
                if accounts.isEmpty { return tellNone() }
                let found = try await open.records(called: call.operands[1], in: accounts)
                if found.isEmpty {
                    let isAbsent = try await open.lacks(call.operands[1], in: accounts)
                    call.tell(
                        isAbsent ? .absent : .unknown,
                        because: isAbsent
                            ? "a complete pull has shown that there is none, or it was deleted"
                            : "the service may have it, but it is not on this device")
                    return false
                }
                if call.isJSON {
                    var records: [JSONText] = []
                    for (record, account) in found { records.append(try await open.json(of: record, in: account)) }
                    call.print(
                        JSONText(object: [
                            ("found", JSONText(string: "found")), ("records", JSONText(list: records)),
                        ]))
                } else {
                    for (record, account) in found { try await open.show(record, account) }
                }
                return true
            }
        })
}

extension Subcommand.Call {
    /// The answers about a record that is not there.
    fileprivate enum Missing: String { case absent, unknown }

    fileprivate func tell(_ answer: Missing, because reason: String) {
        print(["\(answer.rawValue): \(reason)"], json: ["found": .string(answer.rawValue)])
    }
}

extension OpenRecords {
    /// The fewest digits of a digest that are looked for.
    private static var fewestDigits: Int { 4 }

    /// Returns the records that an operand names: by the id, or else by the digest of the id or its first digits.
    ///
    /// - Throws: ``CommandFailure`` if several digests begin with these digits.
    func records(
        called operand: String, in accounts: [RecordAccount]
    ) async throws -> [(record: Record<JSONText>, account: RecordAccount)] {
        var found: [(record: Record<JSONText>, account: RecordAccount)] = []
        for account in accounts {
            if let record = try await records(of: account).get(operand).record { found.append((record, account)) }
        }
        let digits = operand.lowercased()
        let isDigest =
            digits.utf8.count >= Self.fewestDigits && digits.utf8.allSatisfy("0123456789abcdef".utf8.contains)
        guard found.isEmpty, isDigest else { return found }
        for account in accounts {
            for record in try await records(of: account).query().records
            where wholeDigest(of: record.id, account).hasPrefix(digits) { found.append((record, account)) }
        }
        if found.count > 1 {
            throw CommandFailure("\(resource ?? ""): \(found.count) digests begin with '\(digits)'")
        }
        return found
    }

    /// Returns whether no account has a record of this id, at the service neither.
    fileprivate func lacks(_ id: String, in accounts: [RecordAccount]) async throws -> Bool {
        for account in accounts {
            guard case .absent = try await records(of: account).get(id) else { return false }
        }
        return true
    }

    private func changes(of record: Record<JSONText>, _ account: RecordAccount) async throws -> [WaitingChange<
        JSONText
    >] {
        try await records(of: account).waiting().filter { $0.id == record.id }
    }

    fileprivate func json(of record: Record<JSONText>, in account: RecordAccount) async throws -> JSONText {
        let waiting = try await changes(of: record, account).map { JSONText(.int(Int($0.number))) }
        return JSONText(
            object: [("account", JSONText(json(of: account))), ("waiting", JSONText(list: waiting))]
                + json(of: record, account).members)
    }

    fileprivate func show(_ record: Record<JSONText>, _ account: RecordAccount) async throws {
        let waiting = try await changes(of: record, account)
        var facts = [("digest", digest(of: record.id, account)), ("state", record.state.word)]
        if account.account != nil { facts.append(("account", name(of: account))) }
        facts.append(("received", record.receivedAt == nil ? "never" : age(record.receivedAt).aged + " ago"))
        if !waiting.isEmpty {
            let list = waiting.map { "\($0.number) (\($0.kind.rawValue))" }.joined(separator: ", ")
            facts.append(("waiting", list + "; 'larder outbox explain' says why"))
        }
        if record.isTemporary { facts.append(("named", "not by the service yet")) }
        if showsValues { facts += [("id", record.id.printable), ("value", record.value.shownText)] }
        let width = facts.map(\.0.count).max() ?? 0
        for (name, text) in facts { call.terminal.print(name.padded(to: width) + "  " + text) }
    }
}
