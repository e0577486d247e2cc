import LarderFoundation
import Larder
import LarderSync
import LarderSystem

extension Subcommand {
    static let probeService = Subcommand(
        name: "probe", operands: "RESOURCE", summary: "Asks the service whether it keeps what the policy expects of it",
        options: [
            .policies, .account, Command.Option("write", help: "Make a record at the service, change it and delete it"),
            Command.Option("record", value: "FILE", help: "The record to make, as JSON (default: an empty object)"),
            Command.Option("yes", help: "Agree that --write writes to the service"),
        ],
        example: "collections --write --record sample.json --yes",
        run: { call in
            let writes = call.arguments.has("write")
            if !writes, call.arguments.value(of: "record") != nil || call.arguments.has("yes") {
                throw UsageError(message: "--record and --yes go with --write")
            }
            let sample = try call.arguments.value(of: "record").map { try call.sample(in: $0) } ?? .object
            return try await OpenRecords.open(call.operands[0], of: call, for: .probe, orElse: { false }) { open in
                let name = open.resource ?? ""
                guard let policy = open.policies.first(where: { $0.resource == name }) else { return false }
                if writes, !call.arguments.has("yes") {
                    throw CommandFailure(
                        "--write makes \(sample.members.isEmpty ? "an empty record" : "a record") at the service of "
                            + "\(name), changes it and deletes it; --yes agrees to that"
                            + (sample.members.isEmpty ? "; \(ServiceProbe.needOfFields)" : "")
                    )
                }
                let service = try open.pantry.records(name, scope: open.account).service()
                var probe = ServiceProbe(service, policy, now: call.terminal.now())
                let progress = Progress(call.terminal, "sync probe")
                probe.onCall = { progress.show(nil, counted($0, one: "call")) }
                await probe.read()
                if writes { await probe.write(sample) }
                progress.end()
                let findings = probe.findings
                call.print(
                    findings.map(\.line),
                    json: ["resource": .string(name), "findings": .list(findings.map(\.json))])
                return !findings.contains { $0.verdict == .wrong }
            }
        })
}

extension Subcommand.Call {
    /// Reads the record of a file.
    fileprivate func sample(in file: String) throws -> JSONText {
        let bytes: [UInt8]
        do { bytes = try Disk.read(file, limit: 16_000_000) } catch {
            throw CommandFailure("\(file.printable): \(error)")
        }
        guard let record = try? JSONText(bytes), record.kind == .object else {
            throw CommandFailure("\(file.printable): this is no JSON object")
        }
        return record
    }
}

/// A finding about a service.
struct ProbeFinding {
    enum Verdict: String {
        /// The service keeps what the policy expects.
        case ok
        /// The policy or the service is wrong.
        case wrong
        /// The service does not have something, or the policy does not use it.
        case lacks
        /// It could not be tried.
        case untried
    }

    let verdict: Verdict
    let text: String
    /// The setting that mends it, such as `records.pull.items`.
    let setting: String?

    var line: String {
        verdict.rawValue.padded(to: 7) + "  " + text + (setting.map { " [\($0)]" } ?? "")
    }

    var json: JSON {
        ["verdict": .string(verdict.rawValue), "text": .string(text), "setting": setting.map(JSON.string) ?? .null]
    }
}
