import Larder
import LarderReports
import LarderSync
import LarderSystem

/// A change that waits, or that was given up.
struct OutboxChange {
    enum Standing {
        case waiting(WaitingChange<JSONText>)
        case letter(UnsentChange<JSONText>)
    }

    let standing: Standing
    let account: RecordAccount
    let number: Int64
    let id: String
    let kind: PushedChange.Kind
    let value: JSONText?
    let madeAt: Timestamp
    let tries: Int

    fileprivate init(_ change: WaitingChange<JSONText>, of account: RecordAccount) {
        (standing, self.account, number) = (.waiting(change), account, change.number)
        (id, kind, value) = (change.id, change.kind, change.value)
        (madeAt, tries) = (change.madeAt, change.tries)
    }

    fileprivate init(_ letter: UnsentChange<JSONText>, of account: RecordAccount) {
        (standing, self.account, number) = (.letter(letter), account, letter.changeNumber)
        (id, kind, value) = (letter.id, letter.kind, letter.value)
        (madeAt, tries) = (letter.madeAt, letter.tries)
    }

    /// Whether it was given up.
    var isLetter: Bool { if case .letter = standing { true } else { false } }

    /// The state in a word: that it waits, or the reason for which it was given up.
    var state: String {
        guard case .letter(let letter) = standing else { return "waiting" }
        return switch letter.reason {
        case .rejected: letter.status.map { "refused (\($0))" } ?? "refused"
        case .needsRejected: "needs a refused one"
        default: letter.reason.rawValue
        }
    }

    /// The last status of the service; nil if it gave none.
    var status: Int? {
        switch standing {
        case .waiting(let change): change.lastStatus
        case .letter(let letter): letter.status
        }
    }
}

extension OpenRecords {
    /// Returns the changes of the accounts that the call is about, in the order in which they were made.
    func changes() async throws -> [OutboxChange] {
        var changes: [OutboxChange] = []
        for account in try await accounts() where account.changes.waiting > 0 || account.letters > 0 {
            // Changes of a resource without a policy wait for one.
            guard policies.contains(where: { $0.resource == account.resource }) else { continue }
            let records = records(of: account)
            changes += try await records.waiting().map { OutboxChange($0, of: account) }
            changes += try await records.rejected().map { OutboxChange($0, of: account) }
        }
        return changes.sorted { $0.number < $1.number }
    }

    /// Returns the change that the call names by its number.
    ///
    /// - Throws: ``CommandFailure`` if there is no such change.
    func change() async throws -> OutboxChange {
        let number = try call.changeNumber
        guard let change = try await changes().first(where: { $0.number == number }) else {
            throw CommandFailure(
                try await accounts().contains { $0.changes.made > 0 }
                    ? "there is no change \(number): it has reached the service, was merged with another, or was dropped or restored. "
                        + "'larder outbox ls' lists those that are left"
                    : "there is no change \(number): no change was made yet")
        }
        return change
    }

    /// Returns a change in JSON.
    func json(of change: OutboxChange) -> JSONText {
        var members = JSONText.Members()
        members.add("number", change.number)
        members.add("resource", change.account.resource)
        members.add("account", JSONText(json(of: change.account)))
        members.add("digest", digest(of: change.id, change.account))
        members.add("kind", change.kind.rawValue)
        members.add("letter", change.isLetter)
        members.add("state", change.state)
        members.add("made", change.madeAt.spelledToSecond)
        members.add("tries", Int64(change.tries))
        members.add("status", JSONText(change.status.map(JSON.int) ?? .null))
        if case .waiting(let waiting) = change.standing {
            members.add("waitsFor", "\(waiting.waitsFor)")
            members.add("until", JSONText(waiting.waitsFor.time.map { .string($0.spelledToSecond) } ?? .null))
        }
        if showsValues {
            members.add("id", change.id)
            members.add("value", change.value ?? .null)
        }
        return JSONText(object: members)
    }

    /// Returns the facts about a change, for people.
    func facts(about change: OutboxChange) -> [(name: String, text: String)] {
        var facts = [
            ("number", "\(change.number)"), ("resource", change.account.resource.printable),
            ("record", digest(of: change.id, change.account)), ("kind", change.kind.rawValue), ("state", change.state),
            ("made", age(change.madeAt).aged + " ago"), ("tries", "\(change.tries)"),
        ]
        if change.account.account != nil { facts.insert(("account", name(of: change.account)), at: 2) }
        if let status = change.status, !change.isLetter { facts.append(("last status", "\(status)")) }
        if case .waiting(let waiting) = change.standing { facts.append(("waits for", waitText(waiting.waitsFor))) }
        if showsValues {
            facts += [("id", change.id.printable), ("value", change.value?.shownText ?? "none")]
        }
        return facts
    }

    /// Returns the reason of a wait with its time.
    func waitText(_ reason: WaitReason) -> String {
        guard let time = reason.time else { return "\(reason)" }
        let left = time - call.terminal.now()
        return "\(reason), " + (left <= .zero ? "now" : "in \(Optional(left).aged)")
    }
}

extension Subcommand.Call {
    /// The number of a change, which is the operand.
    fileprivate var changeNumber: Int64 {
        get throws(UsageError) {
            guard let number = Int64(operands[0]), number > 0 else {
                throw UsageError(message: "N is the number of a change, as 'larder outbox ls' shows it")
            }
            return number
        }
    }

    /// Tells that there are no changes.
    func tellNoChanges() -> Bool {
        if isJSON { print(JSONText(["changes": .list([])])) }
        terminal.note("nothing waits, and nothing was given up")
        return true
    }

    func failForChange() throws -> Bool {
        let number = try changeNumber
        throw CommandFailure("there is no change \(number): there are no records yet")
    }
}
