import LarderFoundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem

extension Subcommand {
    static let replaySync = Subcommand(
        name: "replay", operands: "RESOURCE",
        summary: "Shows how another policy would send the changes that wait or were refused",
        options: .ofRecords + [
            Command.Option("policy", value: "FILE", help: "The other policy of the resource, in a file of any name"),
            .values,
        ],
        example: "collections --policy corrected.json",
        run: { call in
            guard let file = call.arguments.value(of: "policy") else {
                throw UsageError(message: "--policy FILE is missing: the policy that would send the changes")
            }
            return try await OpenRecords.open(
                call.operands[0], of: call, for: .device, orElse: { call.tellNoChanges() }
            ) { open in
                let changes = try await open.changes().filter(\.canBeSent)
                let other = try await OtherPolicy(in: file, of: open.resource ?? "", call)
                let drafts = try await other.closing { try await open.drafts(changes, in: other.pantry) }
                if changes.isEmpty { return call.tellNoChanges() }
                call.print(
                    drafts.flatMap { $0.lines(in: open) }
                        + ["nothing was sent; \(file.printable) sends so when it stands in place of the policy"],
                    json: [
                        "resource": .string(open.resource ?? ""), "changes": .list(drafts.map { $0.json(in: open) }),
                    ])
                return true
            }
        })
}

/// A policy that is not used yet, opened in folders that pass.
private struct OtherPolicy {
    let pantry: Pantry
    private let folder: TemporaryFolder

    /// - Throws: `PolicyError` if it is not sound; ``CommandFailure`` if it is about another resource.
    init(in file: String, of resource: String, _ call: Subcommand.Call) async throws {
        let reader = PolicyReader(registry: call.registry, file: file, environment: call.arguments.environment)
            .withoutProcess
        let policies = try reader.readAll()
        guard let policy = policies.first, policy.resource == resource else {
            throw CommandFailure(
                "\(file.printable) is about '\((policies.first?.resource ?? "").printable)', not about '\(resource.printable)'"
            )
        }
        for warning in policy.warnings { call.terminal.note(warning.description) }
        guard policy.keepsRecords else {
            throw CommandFailure("\(file.printable): the policy has no section 'records'")
        }
        folder = try TemporaryFolder()
        pantry = try await Pantry(
            reader: reader, cache: folder.url.appending(path: "cache"), data: folder.url.appending(path: "data"),
            world: SystemWorld(), removesUnused: false, allowsBackgroundWork: false)
    }

    func closing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await pantry.close()
            return result
        } catch {
            await pantry.close()
            throw error
        }
    }
}

/// A change, with the calls in which the present policy and another one would send it.
private struct ComparedDrafts {
    let change: OutboxChange
    let (present, other): (PushDraft?, PushDraft?)
    /// Whether it waits for the present source, and the other policy has another one. A letter is made anew for any.
    let isHeld: Bool
}

extension OutboxChange {
    /// Whether it waits, or could be sent when it is restored.
    fileprivate var canBeSent: Bool {
        guard case .letter(let letter) = standing else { return true }
        return letter.reason != .overtaken
    }

    fileprivate var pushed: PushedChange {
        switch standing {
        case .waiting(let change): change.pushed
        case .letter(let letter): letter.pushed
        }
    }
}

extension OpenRecords {
    fileprivate func drafts(_ changes: [OutboxChange], in other: Pantry) async throws -> [ComparedDrafts] {
        var found: [ComparedDrafts] = []
        for change in changes {
            let (name, account) = (change.account.resource, change.account.account)
            let service = try pantry.records(name, scope: account).service()
            let newService = try other.records(name, scope: account).service()
            found.append(
                ComparedDrafts(
                    change: change, present: try await service.draft(of: change.pushed),
                    other: try await newService.draft(of: change.pushed),
                    isHeld: !change.isLetter && !newService.continues(service)))
        }
        return found
    }
}

extension ComparedDrafts {
    /// Whether the other policy sends the change otherwise, or not at all.
    private var differs: Bool { isHeld || present.text(true) != other.text(true) }

    private func otherText(_ showsValues: Bool) -> String {
        isHeld
            ? "not sent: this is another source, unless its 'formerly' names the former one" : other.text(showsValues)
    }

    func lines(in open: OpenRecords) -> [String] {
        let record = open.showsValues ? change.id.printable : open.digest(of: change.id, change.account)
        var state = change.state
        if case .waiting(let waiting) = change.standing { state = "waits for \(open.waitText(waiting.waitsFor))" }
        if change.isLetter { state += ", so only after 'larder outbox restore \(change.number)'" }
        let (now, new) = (present.text(open.showsValues), otherText(open.showsValues))
        return ["change \(change.number), \(change.kind.rawValue) of \(record): \(state)"]
            + (differs ? ["  now: \(now)", "  new: \(new)"] : ["  now and new: \(now)"])
    }

    func json(in open: OpenRecords) -> JSON {
        [
            "number": .int(Int(change.number)), "digest": .string(open.digest(of: change.id, change.account)),
            "account": open.json(of: change.account), "state": .string(change.state),
            "now": .string(present.text(open.showsValues)), "new": .string(otherText(open.showsValues)),
            "differs": .bool(differs),
        ]
    }
}

extension PushDraft? {
    /// The call in words; without values, names of what is in it.
    fileprivate func text(_ showsValues: Bool) -> String {
        guard let self else { return "not shown: the policy has no 'push', or its plugin tells no calls" }
        func list(_ title: String, _ values: [(name: String, value: String)]) -> String? {
            if values.isEmpty { return nil }
            return title + values.map { showsValues ? "\($0.name)=\($0.value)" : $0.name }.joined(separator: ", ")
        }
        let parts = [
            self.method, list("parameters ", self.parameters.map { ($0.name, $0.value) }),
            list("fields ", self.fields.map { ($0.name, $0.value) }), self.body.map { Self.text(of: $0, showsValues) },
        ]
        return parts.compactMap { $0 }.joined(separator: "; ").printable
    }

    private static func text(of body: Data, _ showsValues: Bool) -> String {
        guard let json = try? JSONText(body) else { return "a body of \(body.count.spelledSize)" }
        if showsValues { return "body " + json.shownText }
        return json.kind == .object && !json.members.isEmpty
            ? "body with " + json.members.map(\.name).joined(separator: ", ") : "body of \(body.count.spelledSize)"
    }
}
