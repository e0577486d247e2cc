import Larder
import LarderSync

// The subcommands of `larder outbox` that change something.
extension Subcommand {
    static let retryChanges = Subcommand(
        name: "retry", operands: "[RESOURCE]",
        summary: "Sends what waits now, without waiting for the time of the next try",
        options: .ofServices + [.cache], example: "collections",
        run: { call in
            if let operand = call.operands.first, Int64(operand) != nil {
                throw UsageError(message: "'outbox retry' takes a resource and no number: it sends all that waits")
            }
            return try await OpenRecords.open(
                call.operands.first, of: call, for: .service, needs: .outbox, orElse: { true }
            ) { open in
                let accounts = try await open.accounts().filter { account in
                    account.changes.waiting > 0 && open.policies.contains { $0.resource == account.resource }
                }
                var failures: [String] = []
                for account in accounts {
                    do { try await open.records(of: account).sendWaiting() } catch let error
                        where error is RecordError || error is LoadError
                    { failures.append("\(account.resource.printable): \(error)") }
                }
                let asked = Set(accounts.map { [$0.resource, $0.account] })
                let later = try await open.accounts().filter { asked.contains([$0.resource, $0.account]) }
                let (before, left) = (accounts.waiting, later.waiting)
                call.print(
                    [
                        before == 0
                            ? "nothing waits"
                            : "\(counted(before, one: "change")) waited, \(left) still \(left == 1 ? "waits" : "wait")"
                    ] + failures + (left == 0 ? [] : ["'larder outbox ls' says for what"]),
                    json: [
                        "waited": .int(before), "waiting": .int(left), "failures": .list(failures.map(JSON.string)),
                    ])
                return left == 0 && failures.isEmpty
            }
        })

    static let dropChange = Subcommand(
        name: "drop", operands: "N", summary: "Drops a change, so that it is never sent, or forgets a letter",
        options: .ofRecords + [Command.Option("yes", help: "Agree that what the user did is lost")],
        example: "17 --yes",
        run: { call in
            try await OpenRecords.open(
                nil, of: call, for: .device, needs: .outbox, orElse: { try call.failForChange() }
            ) { open in
                let change = try await open.change()
                guard call.arguments.has("yes") else {
                    throw CommandFailure(
                        "change \(change.number) would be lost: 'larder outbox show \(change.number)' shows it, and --yes agrees to that"
                    )
                }
                switch change.standing {
                case .waiting(let waiting):
                    guard try await waiting.discard() else {
                        throw CommandFailure(
                            "change \(change.number) is being sent, or has just ended; it is left as it is")
                    }
                case .letter(let letter): try await letter.discard()
                }
                let done = change.isLetter ? "forgotten" : "dropped, and counted as discarded"
                call.print(
                    ["change \(change.number) is \(done)"],
                    json: [
                        "number": .int(Int(change.number)), "done": .string(change.isLetter ? "forgotten" : "dropped"),
                    ])
                return true
            }
        })

    static let restoreChange = Subcommand(
        name: "restore", operands: "N", summary: "Makes the change of a letter again, which then waits to be sent",
        options: .ofRecords, example: "17",
        run: { call in
            try await OpenRecords.open(
                nil, of: call, for: .device, needs: .outbox, orElse: { try call.failForChange() }
            ) { open in
                let change = try await open.change()
                guard case .letter(let letter) = change.standing else {
                    throw CommandFailure("change \(change.number) is no letter: it waits, and is sent by itself")
                }
                let last = try await open.changes().last?.number ?? 0
                try await letter.restore()
                let made = try await open.changes().filter {
                    $0.number > last && $0.account.resource == change.account.resource
                }
                let text =
                    made.first.map { "made again as change \($0.number), which is sent by the next run" }
                    ?? "gone: the record is already as the change would make it"
                call.print(
                    ["change \(change.number) is \(text)"],
                    json: [
                        "number": .int(Int(change.number)),
                        "madeAgainAs": made.first.map { .int(Int($0.number)) } ?? .null,
                    ])
                return true
            }
        })
}

extension [RecordAccount] {
    /// The number of changes that wait.
    fileprivate var waiting: Int { reduce(0) { $0 + $1.changes.waiting } }
}
