import LarderFoundation
import Larder
import LarderSync
import LarderSystem

/// A change, and what the present policy and another one would do with it.
struct ComparedDrafts {
    let change: OutboxChange
    let (present, other): (DraftedChange, DraftedChange)
}

/// The call by which a policy sends a change, or the reason for which it does not.
enum DraftedChange {
    case sent(PushDraft)
    /// It is not sent, or not known how. The text says why.
    case notSent(String)

    init(_ change: PushedChange, by service: RecordService) async throws {
        if service.pusher == nil {
            self = .notSent("not sent: the policy has no 'push'")
        } else if !service.sends(change) {
            self = .notSent("not sent: it waits for another source, which 'formerly' of the origin does not name")
        } else if let draft = try await service.draft(of: change) {
            self = .sent(draft)
        } else {
            self = .notSent("not known: the pusher does not tell its calls")
        }
    }
}

extension ComparedDrafts {
    private var differs: Bool { present.text(.all) != other.text(.all) }

    private func detail(in open: OpenRecords) -> DraftedChange.Detail { open.showsValues ? .values(change) : .names }

    func lines(in open: OpenRecords) -> [String] {
        let record = open.showsValues ? change.id.printable : open.digest(of: change.id, change.account)
        let head = "change \(change.number), \(change.kind.rawValue) of \(record): "
        if case .letter(let letter) = change.standing {
            if letter.reason == .needsRejected {
                return [head + "\(change.state); 'larder outbox explain \(change.number)' says more"]
            }
            return [head + "\(change.state), and sent only after 'larder outbox restore \(change.number)'"]
                + calls(in: open)
        }
        guard case .waiting(let waiting) = change.standing else { return [] }
        return [head + "waits for \(open.waitText(waiting.waitsFor))"] + calls(in: open)
    }

    private func calls(in open: OpenRecords) -> [String] {
        let (now, new) = (present.text(detail(in: open)), other.text(detail(in: open)))
        if !differs { return ["  now and new: \(now)"] }
        return ["  now: \(now)", "  new: \(new)" + (now == new ? "; with other values, which --values shows" : "")]
    }

    func json(in open: OpenRecords) -> JSON {
        [
            "number": .int(Int(change.number)), "digest": .string(open.digest(of: change.id, change.account)),
            "account": open.json(of: change.account), "kind": .string(change.kind.rawValue),
            "letter": .bool(change.isLetter), "state": .string(change.state),
            "now": .string(present.text(detail(in: open))), "new": .string(other.text(detail(in: open))),
            "differs": .bool(differs),
        ]
    }
}

extension OutboxChange {
    /// The change for a pusher.
    var pushed: PushedChange {
        switch standing {
        case .waiting(let change): change.pushed
        case .letter(let letter): letter.pushed
        }
    }
}

extension DraftedChange {
    /// How much of a call is shown.
    enum Detail {
        /// The names of what is in it.
        case names
        /// The values of the change, too. A field may have a secret of the policy, and is shown only if its value is the key or the
        /// version of the change. Those of a letter are others when it is made again.
        case values(OutboxChange)
        /// Everything, to compare it. This is never shown.
        case all
    }

    func text(_ detail: Detail) -> String {
        switch self {
        case .notSent(let reason): reason
        case .sent(let draft): draft.text(detail)
        }
    }
}

extension PushDraft {
    fileprivate func text(_ detail: DraftedChange.Detail) -> String {
        let given = parameters.map { name, value in
            if case .names = detail { name.printable } else { name.printable + "=" + value.printable }
        }
        let added = fields.map { field in
            isShown(field.value, detail) ? "\(field.name)=\(field.value)" : field.name
        }
        let parts = [
            method.printable, given.isEmpty ? nil : "parameters " + given.joined(separator: ", "),
            added.isEmpty ? nil : "fields " + added.joined(separator: ", "), body.map { bodyText($0, detail) },
        ]
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    private func isShown(_ value: String, _ detail: DraftedChange.Detail) -> Bool {
        switch detail {
        case .names: return false
        case .all: return true
        case .values(let change):
            if value == "application/json" { return true }
            let known = [change.pushed.key, change.pushed.version?.name].compactMap(\.self)
            return !change.isLetter && known.contains { value == $0 || value == "\"\($0)\"" }
        }
    }

    private func bodyText(_ body: Data, _ detail: DraftedChange.Detail) -> String {
        if case .names = detail { return "a body of \(body.count.spelledSize)" }
        return (try? JSONText(body)).map { "body " + $0.shownText } ?? "a body of \(body.count.spelledSize)"
    }
}
