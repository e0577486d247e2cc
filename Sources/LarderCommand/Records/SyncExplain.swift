import Larder
import LarderSync

extension Subcommand {
    static let explainSync = Subcommand(
        name: "explain", operands: "RESOURCE",
        summary: "Says in words how a policy fetches, sends, merges, waits and gives up",
        options: [.policies, .assume], example: "collections",
        run: { call in
            let (name, folder) = try call.arguments.resource(call.operands[0])
            let reader = call.arguments.reader(call.registry, folder.shortPath).withoutProcess.needing(name)
            let policy = try reader.readSound().policies.named(name)
            guard let explanation = SyncExplanation(policy) else {
                throw CommandFailure("\(name): its policy has no section '\(Plugin.records.name)'")
            }
            let chapters = explanation.chapters.filter { !$0.lines.isEmpty }
            call.print(
                chapters.flatMap { [$0.title] + $0.lines.map { "  " + $0 } },
                json: [
                    "resource": .string(name),
                    "chapters": .list(
                        chapters.map { ["title": .string($0.title), "lines": .list($0.lines.map(JSON.string))] }),
                ])
            return true
        })
}

/// The behaviour of a policy with records, in words.
struct SyncExplanation {
    let records: PartSettings
    private let pull: PartSettings?
    private let push: PartSettings?
    private let conflict: PartSettings?
    let outbox: PartSettings

    /// Returns nil if the policy has no records.
    init?(_ policy: Policy) {
        guard let part = policy.section(.records) else { return nil }
        func nested(_ kind: PluginKind) -> PartSettings? {
            part.nested.first { $0.plugin.kind == kind }.map { PartSettings($0) }
        }
        records = PartSettings(part)
        (pull, push, conflict) = (nested(.puller), nested(.pusher), nested(.conflict))
        outbox = policy.section(.outbox).map { PartSettings($0) } ?? PartSettings(defaultsOf: .outbox)
    }

    /// A part of the explanation.
    struct Chapter {
        let title: String
        let lines: [String]
    }

    var chapters: [Chapter] {
        [
            Chapter(title: "ids", lines: ids), Chapter(title: "fetching", lines: fetching),
            Chapter(title: "deletions", lines: deletions), Chapter(title: "sending", lines: sending),
            Chapter(title: "conflicts", lines: conflicts), Chapter(title: "answers", lines: push == nil ? [] : answers),
            Chapter(title: "waiting", lines: push == nil ? [] : waiting),
        ]
    }

    private var ids: [String] {
        let names =
            records["ids"] == "server"
            ? "The service names new records. Until then a record has a temporary id, and what refers to it waits."
            : "The app names new records, and the service keeps these ids."
        return ["The id of a record is at \(records["id"] ?? "")."] + [names]
    }

    private var fetching: [String] {
        guard let pull else { return ["Nothing is fetched: there is no 'pull'. Records stay as the app made them."] }
        var lines = [
            pull.about,
            "The service is asked at the start, every \(pull["every"] ?? ""), when the network comes back, when the app comes "
                + "to the foreground, and when the app asks for it.",
            "A page has at most \(pull["limit"] ?? "") records. A pull that is cut goes on at its page.",
        ]
        switch pull.name {
        case "since":
            let time = pull["serverTime"].map { "the service's time at \($0)" } ?? "the latest 'updatedAt' of a pull"
            lines.append("The next pull begins at \(time), less \(pull["overlap"] ?? "0s").")
        case "token":
            lines.append(
                "If the service answers a token with \(pull.names("expired") ?? ""), everything is fetched anew.")
        default: break
        }
        if pull["next"] == nil, pull["more"] == nil, pull.declares("next") {
            lines.append("! There is one page: neither 'next' nor 'more' tells of another.")
        }
        if let epoch = pull["epoch"] { lines.append("If the mark at \(epoch) changes, everything is fetched anew.") }
        if let full = pull["full"] { lines.append("Everything is fetched at least every \(full).") }
        return lines
    }

    private var deletions: [String] {
        guard let pull else { return [] }
        var ways: [String] = []
        if let place = pull["deleted"] { ways.append("the service lists the ids at \(place)") }
        if let flag = pull["tombstone"] { ways.append("a record has the flag \(flag)") }
        if pull.name == "all" { ways.append("a record is missing in a pull") }
        if let full = pull["full"], pull.name != "all" {
            ways.append("a record is missing when everything is fetched, every \(full)")
        }
        let share = records.share("sweepGuard")
        let guarded =
            "A pull of everything that lacks more than \(share) of at least 20 records deletes nothing, until the next one agrees."
        if !ways.isEmpty { return ["A deletion is seen when " + ways.joined(separator: ", or ") + ".", guarded] }
        return pull.declares("deleted")
            ? ["! Deletions are seen only when everything is fetched: set 'deleted', 'tombstone' or 'full'.", guarded]
            : ["The puller tells deletions.", guarded]
    }

    private var conflicts: [String] {
        guard let conflict else { return [] }
        var lines = ["If the user and somebody else changed a record: \(conflict.about)"]
        if let union = conflict.names("union") {
            lines.append("Changes of the lists \(union) are merged item by item, and never conflict.")
        }
        if conflict["of"] != "record" { lines.append("Changes of different fields never conflict.") }
        lines.append("A change that somebody else's change replaces becomes a letter, which can be made again.")
        return lines
    }
}

// MARK: Sending

extension SyncExplanation {
    private var sending: [String] {
        guard let push else { return ["Nothing is sent: there is no 'push'. Changes wait on this device."] }
        var lines = [push.about]
        let gather = outbox["gather"] ?? "0s"
        let pause = push["every"].map { $0 == "0s" ? "" : ", and at most every \($0)" } ?? ""
        lines.append("A change is sent \(gather) after it was made\(pause), or when there is a network again.")
        if outbox["merge"] != "false" { lines.append("Changes of a record that were never sent become one.") }
        lines.append("Changes of a record arrive in their order. A change that waits delays no other record.")
        lines += keys(push) + preconditions(push)
        return lines
    }

    private func keys(_ push: PartSettings) -> [String] {
        guard push.pushFacts?.sendsKeys != false else {
            return ["! There is no key: a change whose answer is lost is sent again, and may be made twice."]
        }
        let field =
            push.declares("key")
            ? push["key"].flatMap { ["", "\"\""].contains($0) ? nil : " in the field \($0)" } : nil
        return [
            "Each change has a key\(field ?? ""). It is sent again with the same one, so that the service makes it once."
        ]
    }

    private func preconditions(_ push: PartSettings) -> [String] {
        let isSent = push.pushFacts?.sendsVersions != false
        if let version = records["version"], isSent {
            return [
                "A change carries the version at \(version), so that the service can refuse one that overwrites another's."
            ]
        }
        let reason = records["version"] == nil ? "records have no 'version'" : "not every call has '{version}'"
        return [
            "! Writes are blind, because \(reason): a change of another device between fetching and sending is overwritten. So "
                + "records are fetched before changes are sent."
        ]
    }
}
