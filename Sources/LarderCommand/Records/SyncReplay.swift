import LarderFoundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem

extension Subcommand {
    static let replaySync = Subcommand(
        name: "replay", operands: "RESOURCE --policy FILE",
        summary: "Shows how another policy would send the changes that wait or were refused",
        options: .ofRecords + [
            Command.Option(
                "policy", value: "FILE",
                help: "The other policy of the resource, in a file of any name, beside the files that it extends"),
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
                let changes = try await open.changes()
                let other = try await OtherPolicy(in: file, of: open.resource ?? "", call)
                let drafts = try await other.closing { try await open.drafts(of: changes, in: other.pantry) }
                if changes.isEmpty { return call.tellNoChanges() }
                let hasOtherOrigin =
                    open.policies.first { $0.resource == open.resource }?.originText != other.originText
                let lines = drafts.flatMap { $0.lines(in: open) }
                let about = hasOtherOrigin ? ["the origin differs, too, such as in its address or its fields"] : []
                call.print(
                    lines + about + ["nothing was sent and nothing was changed"],
                    json: [
                        "resource": .string(open.resource ?? ""), "otherOrigin": .bool(hasOtherOrigin),
                        "changes": .list(drafts.map { $0.json(in: open) }),
                    ])
                return true
            }
        })
}

/// A policy that is not used yet, opened with folders of its own, which are deleted afterwards.
private struct OtherPolicy {
    let pantry: Pantry
    let originText: String
    private let folder: TemporaryFolder

    /// - Throws: `PolicyError` if it is not sound; ``CommandFailure`` if it is about another resource, or has no records.
    init(in file: String, of resource: String, _ call: Subcommand.Call) async throws {
        let reader = PolicyReader(registry: call.registry, file: file, environment: call.arguments.environment)
            .withoutProcess
        guard let policy = try reader.readAll().first else { throw CommandFailure("\(file.printable): no policy") }
        guard policy.resource == resource else {
            throw CommandFailure(
                "\(file.printable) is about '\(policy.resource.printable)', not about '\(resource.printable)'")
        }
        for warning in policy.warnings { call.terminal.note(warning.description) }
        guard policy.keepsRecords else {
            throw CommandFailure("\(file.printable): the policy has no section 'records'")
        }
        originText = policy.originText
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

extension Policy {
    /// The policy's origin, as text.
    fileprivate var originText: String {
        guard case .object(let members) = shownTree else { return "" }
        return members.first { $0.name == "origin" }?.value.text() ?? ""
    }
}

extension OpenRecords {
    fileprivate func drafts(of changes: [OutboxChange], in other: Pantry) async throws -> [ComparedDrafts] {
        var found: [ComparedDrafts] = []
        for change in changes {
            let (name, account) = (change.account.resource, change.account.account)
            found.append(
                ComparedDrafts(
                    change: change,
                    present: try await DraftedChange(change.pushed, by: pantry.records(name, scope: account).service()),
                    other: try await DraftedChange(change.pushed, by: other.records(name, scope: account).service())))
        }
        return found
    }
}
