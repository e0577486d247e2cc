import LarderFoundation
import Larder
import LarderEditions
import LarderStories
import LarderSystem

extension Subcommand {
    static let newEdition = Subcommand(
        name: "new", operands: "POLICIES", summary: "Makes an edition of a folder of policies",
        options: [
            Command.Option("channel", value: "NAME", help: "The channel that may offer the edition"),
            Command.Option("number", value: "N", help: "The number of the edition, such as 42"),
            Command.Option("about", value: "TEXT", help: "A line about the edition, for people"),
            Command.Option(
                "against", value: "DIR",
                help: "The app's own policies: show what users would notice, and check what an edition may change"),
            .out, .assume,
        ],
        run: { call in
            guard let channel = call.arguments.value(of: "channel") else {
                throw UsageError(message: "--channel NAME is missing: it names the channel that may offer the edition")
            }
            guard call.arguments.value(of: "number") != nil else {
                throw UsageError(message: "--number N is missing: it is a whole number from 1, such as 42")
            }
            let number = try call.arguments.number(of: "number", in: 1...9_007_199_254_740_991, default: 1)
            let folder = call.operands[0]
            let path = call.arguments.value(of: "out") ?? "\(channel)-\(number).edition.json"
            try call.refuseExisting(path)
            for words in checks(of: folder, against: call.arguments.value(of: "against")) {
                guard await call.runs(words) else {
                    call.terminal.complain("\(path) is not written, because '\(shellCommand(words))' failed")
                    return false
                }
            }
            let policies = try policies(in: folder, call)
            let assumed = call.registry.kinds.flatMap { call.registry[$0] }.filter(\.isAssumed)
            let edition = EditionFile(
                channel: channel, number: number, about: call.arguments.value(of: "about"),
                plugins: EditionFile.needs(
                    of: policies, in: call.registry, undeclared: Set(assumed.map { "\($0.kind) \($0.name)" })),
                policies: policies)
            if let app = call.arguments.value(of: "against") { try call.checkReach(of: edition, in: app) }
            let file = try edition.file()
            try Disk.replace(path, with: [file.payload], isPrivate: false)
            let next = shellCommand(["edition", "sign", path, "--key", "release.pem"])
            call.print(
                [
                    "wrote \(path): \(counted(policies.count, one: "file", many: "files")), "
                        + "\(counted(edition.plugins.count, one: "plugin")); the next command is", "  " + next,
                ],
                json: [
                    "file": .string(path), "digest": .string(file.digest), "channel": .string(channel),
                    "number": .int(number), "policies": .list(policies.keys.sorted().map(JSON.string)),
                    "plugins": .list(edition.plugins.keys.sorted().map(JSON.string)), "next": [.string(next)],
                ])
            return true
        })

    /// The commands that must succeed first.
    private static func checks(of folder: String, against other: String?) -> [[String]] {
        var commands = [["check", folder]]
        if ScenarioFiles.areThere(in: folder + "/Scenarios") { commands.append(["test", "--policies", folder]) }
        commands.append(["prove", "--policies", folder])
        if let other { commands.append(["diff", other, folder]) }
        return commands
    }

    /// Returns the policies of a folder, and the files that they can extend, by the names of the files.
    private static func policies(in folder: String, _ call: Call) throws -> [String: JSON] {
        var policies: [String: JSON] = [:]
        for item in try Disk.list(folder) where !item.isFolder && item.name.hasSuffix(".json") {
            let isBase = item.name.hasPrefix("_") && item.name != ProcessSettings.file
            guard isBase || PolicyReader.isName(String(item.name.dropLast(".json".count))) else { continue }
            let path = folder + "/" + item.name
            policies[item.name] = try JSON(
                reading: call.contents(of: path, atMost: JSONParser.mostBytes), called: path)
        }
        return policies
    }
}

extension Subcommand.Call {
    /// Runs another command with the assumed plugins of this one. Its result goes to the error output.
    fileprivate func runs(_ words: [String]) async -> Bool {
        let arguments = words + self.arguments.assumed
        return await LarderCommand.run(
            arguments, registry: registry, environment: self.arguments.environment,
            terminal: terminal.notingResults) == 0
    }
}
