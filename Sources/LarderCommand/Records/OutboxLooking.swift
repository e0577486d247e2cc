import Larder
import LarderReports
import LarderSync

// The subcommands of `larder outbox` that change nothing.
extension Subcommand {
    static let listChanges = Subcommand(
        name: "ls", operands: "[RESOURCE]",
        summary: "Lists the changes that wait, each with the reason, and the letters",
        options: .ofRecords + [.values], example: "--data ~/.local/share/shop",
        run: { call in
            try await OpenRecords.open(
                call.operands.first, of: call, for: .device, needs: .outbox, orElse: { call.tellNoChanges() }
            ) { open in
                let changes = try await open.changes()
                if changes.isEmpty { return call.tellNoChanges() }
                if call.isJSON {
                    call.print(JSONText(object: [("changes", JSONText(list: changes.map(open.json)))]))
                } else {
                    open.list(changes)
                }
                return true
            }
        })

    static let showChange = Subcommand(
        name: "show", operands: "N", summary: "Shows the facts about a change", options: .ofRecords + [.values],
        example: "17 --values",
        run: { call in
            try await OpenRecords.open(
                nil, of: call, for: .device, needs: .outbox, orElse: { try call.failForChange() }
            ) { open in
                let change = try await open.change()
                if call.isJSON {
                    call.print(open.json(of: change))
                } else {
                    let facts = open.facts(about: change)
                    let width = facts.map(\.name.count).max() ?? 0
                    for fact in facts { call.terminal.print(fact.name.padded(to: width) + "  " + fact.text) }
                }
                return true
            }
        })

    static let explainChange = Subcommand(
        name: "explain", operands: "N", summary: "Says why a change is still here, since when, and what happens next",
        options: .ofRecords + [.values], example: "17",
        run: { call in
            try await OpenRecords.open(
                nil, of: call, for: .device, needs: .outbox, orElse: { try call.failForChange() }
            ) { open in
                let change = try await open.change()
                let lines = open.explanation(of: change)
                call.print(
                    lines, json: ["number": .int(Int(change.number)), "lines": .list(lines.map(JSON.string))])
                return true
            }
        })

    static let exportChanges = Subcommand(
        name: "export", operands: "[RESOURCE]", summary: "Writes all changes and letters as lines of JSON",
        options: .ofRecords + [.values], example: "--values > outbox.jsonl",
        run: { call in
            try await OpenRecords.open(
                call.operands.first, of: call, for: .device, needs: .outbox, orElse: { true }
            ) { open in
                for change in try await open.changes() { call.print(open.json(of: change)) }
                return true
            }
        })
}

extension OpenRecords {
    fileprivate func list(_ changes: [OutboxChange]) {
        let hasAccounts = changes.contains { $0.account.account != nil }
        let columns = ["N", "age", "tries", "resource"] + (hasAccounts ? ["account"] : [])
        var rows = [columns + ["record", "kind", "state", "waits for"]]
        for change in changes {
            var reason = ""
            if case .waiting(let waiting) = change.standing { reason = waitText(waiting.waitsFor) }
            rows.append(
                ["\(change.number)", age(change.madeAt).aged, "\(change.tries)", change.account.resource.printable]
                    + (hasAccounts ? [name(of: change.account)] : [])
                    + [
                        showsValues ? change.id.printable : digest(of: change.id, change.account), change.kind.rawValue,
                        change.state, reason,
                    ])
        }
        for line in Table(rows, left: rows[0].count).lines { call.terminal.print(line.trimmingEnd) }
    }

    /// Returns an explanation of a change, in sentences.
    fileprivate func explanation(of change: OutboxChange) -> [String] {
        let record = showsValues ? change.id.printable : digest(of: change.id, change.account)
        let sent =
            switch change.tries {
            case 0: "It was never sent."
            case 1: "It was sent once" + answerText(change)
            default: "It was sent \(change.tries) times" + answerText(change)
            }
        let head =
            "Change \(change.number), \(change.kind.inWords) record \(record) of \(change.account.resource.printable), was made "
            + "\(age(change.madeAt).aged) ago. " + sent
        switch change.standing {
        case .waiting(let waiting):
            return [head, "It waits for \(waitText(waiting.waitsFor)).", waiting.waitsFor.nextStep]
        case .letter(let letter):
            return [head, letter.reason.inWords(letter.status), letter.reason.nextStep(change.number)]
        }
    }

    private func answerText(_ change: OutboxChange) -> String {
        guard case .waiting(let waiting) = change.standing else { return "." }
        if let status = change.status {
            // The change would be settled if its answer made sense, so it was a page for people, for example.
            return ", and the service answered with the status \(status)"
                + (status < 400 ? ", but not as the policy expects it." : ".")
        }
        switch waiting.waitsFor {
        case .account(_?): return ", and the service asked for a sign-in."
        case .decision, .lookup: return ", and the service answered that the record is another one."
        default: return ", without an answer."
        }
    }
}

extension PushedChange.Kind {
    fileprivate var inWords: String {
        switch self {
        case .create: "which makes the"
        case .update: "which changes the"
        case .delete: "which deletes the"
        }
    }
}

extension WaitReason {
    /// The next step, in a sentence.
    var nextStep: String {
        switch self {
        case .earlierChange(let number): "Change \(number) ends first: 'larder outbox explain \(number)' says when."
        case .time:
            "It is then sent again, with the same key. 'larder outbox retry' sends it earlier, unless the service has asked for the wait."
        case .nextRun: "The app makes one when it runs and has a network. 'larder outbox retry' makes one now."
        case .network: "It is sent when there is one."
        case .account(nil): "It is sent when the account signs in, and not before."
        case .account:
            "It is sent when somebody signs in. Without that, the service is asked again at the time of the next try."
        case .record:
            "It is sent after that, with the name of the service. If that record is refused, this change is given up with it."
        case .decision: "Both sides changed the record, and nothing happens before the app decides."
        case .source: "It is sent when 'formerly' of the policy names the former source, or when the app releases it."
        case .answer:
            "If no answer comes, or if the process that sent it has ended, it is sent again with the same key."
        case .lookup: "The change is then merged onto the service's record, and sent again."
        case .push: "It is sent when the policy says how."
        @unknown default: "The app decides."
        }
    }
}

extension UnsentChange<JSONText>.Reason {
    fileprivate func inWords(_ status: Int?) -> String {
        switch self {
        case .rejected: "The service refused it" + (status.map { " with the status \($0)." } ?? ".")
        case .expired: "It waited longer than 'retention' of the section 'outbox' allows."
        case .overtaken: "Somebody else has changed the same, or the service has the record no more."
        case .needsRejected: "It needs a record whose making was given up."
        default: "It was given up."
        }
    }

    fileprivate func nextStep(_ number: Int64) -> String {
        let drop = "'larder outbox drop \(number)' forgets it."
        if self == .needsRejected {
            return
                "It is not sent any more. The letter of that record has the later changes of the record: restore that one. "
                + drop
        }
        return "It is not sent any more. 'larder outbox restore \(number)' makes it again, \(drop)"
    }
}
