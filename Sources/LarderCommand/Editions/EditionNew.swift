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
        example: "Policies --channel shop --number 42 --against Released",
        run: { call in
            let (channel, number) = try call.identity()
            let folder = call.operands[0]
            let path = call.arguments.value(of: "out") ?? "\(channel)-\(number).edition.json"
            try call.refuseTarget(path)
            guard Disk.item(folder)?.isFolder == true else {
                throw CommandFailure("\(folder) is no folder; an edition has all policies of one")
            }
            let app = call.arguments.value(of: "against")
            let old = try app.map { try PolicySource($0, policies: folder) }
            try call.warnOfOtherChannel(channel, in: folder, called: folder)
            if let app, let old { try call.warnOfOtherChannel(channel, in: old.folder, called: app) }
            try call.refuseSecrets(in: folder)
            let slow = slowChecks(of: folder)
            var stages = EditionStages(call: call, path: path, count: slow.count + (app == nil ? 1 : 2))
            guard await stages.pass(["check", folder, "--no-prove"]) else { return false }
            let policies = try policies(in: folder, call)
            let assumed = call.registry.kinds.flatMap { call.registry[$0] }.filter(\.isAssumed)
            let edition = EditionFile(
                channel: channel, number: number, about: call.arguments.value(of: "about"),
                plugins: EditionFile.needs(
                    of: policies, in: call.registry, undeclared: Set(assumed.map { "\($0.kind) \($0.name)" })),
                policies: policies)
            if let app, let old {
                stages.begin(["diff", app, folder])
                try call.checkReach(of: texts(of: policies, in: folder, call), from: folder, in: old.folder)
                guard try call.differs(folder, from: old) else {
                    call.terminal.complain("\(path) is not written, because it would change nothing")
                    return false
                }
            }
            for words in slow { guard await stages.pass(words) else { return false } }
            let file = try edition.file()
            try call.write(file.payload, to: path)
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

    /// The commands that must succeed and can take a minute.
    private static func slowChecks(of folder: String) -> [[String]] {
        let scenarios = ScenarioFiles.areThere(in: folder + "/Scenarios") ? [["test", "--policies", folder]] : []
        return scenarios + [["prove", "--policies", folder]]
    }

    /// Returns the texts of policies as they are written, by the names of their resources.
    private static func texts(
        of policies: [String: JSON], in folder: String, _ call: Call
    ) throws -> [String: String] {
        let texts = try policies.keys.map { name in
            (
                String(name.dropLast(".json".count)),
                String(decoding: try call.contents(of: folder + "/" + name), as: UTF8.self)
            )
        }
        return Dictionary(uniqueKeysWithValues: texts)
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
