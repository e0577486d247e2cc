import Larder
import LarderEditions
import LarderStories

extension Subcommand.Call {
    /// The channel and the number of a new edition.
    func identity() throws(UsageError) -> (channel: String, number: Int) {
        guard let channel = arguments.value(of: "channel") else {
            throw UsageError(message: "--channel NAME is missing: it names the channel that may offer the edition")
        }
        try requireName(channel, of: "channel")
        guard arguments.value(of: "number") != nil else {
            throw UsageError(message: "--number N is missing: it is a whole number from 1, such as 42")
        }
        return (channel, try arguments.number(of: "number", in: 1...9_007_199_254_740_991, default: 1))
    }

    /// Fails if an option has no name of a channel or a ring.
    func requireName(_ text: String, of option: String) throws(UsageError) {
        guard ChannelFile.isName(text) else {
            throw UsageError(message: "--\(option) takes a name of letters, digits, '.', '_' and '-', such as 'beta'")
        }
    }

    /// Warns if the app with the policies in a folder asks for another channel.
    func warnOfOtherChannel(_ channel: String, in folder: String, called name: String) throws {
        guard let app = try appChannel(in: folder), app.name != channel else { return }
        terminal.note("warning: \(name)/_larder.json is for the channel \(app.name), not \(channel)")
    }

    /// Fails if a secret stands in a policy: everyone can read an edition.
    func refuseSecrets(in folder: String) throws {
        let results = (try? arguments.reader(registry, folder).checkAll()) ?? []
        let secrets = results.flatMap(\.problems).filter { $0.rule == "secret" }.withoutRepeats
        if secrets.isEmpty { return }
        for problem in secrets { terminal.note(problem.description) }
        throw CommandFailure("an edition lies on a public web server, so no secret may stand in its policies")
    }

    /// Shows on the error output what users would notice of the policies in a folder.
    ///
    /// - Returns: false if that is nothing.
    func differs(_ folder: String, from old: PolicySource) throws -> Bool {
        func policies(_ source: PolicySource) throws -> PolicySource.Policies {
            try source.policies(registry, arguments.environment, lifetimes: [])
        }
        let new = try policies(PolicySource(folder, policies: folder))
        let names = Set(new.all.map(\.resource))
        let own = try policies(old).all
        // An app goes on with its own policy of a resource that an edition leaves out.
        for left in own where !names.contains(left.resource) {
            terminal.note("\(left.resource): not in the edition, so the app's own policy stays")
        }
        let compared = PolicySource.Policies(all: own.filter { names.contains($0.resource) }, isFile: false)
        let report = try DiffReport(from: compared, to: new, proves: false) { _, _ in }
        for line in report.lines(DiffReport.mostLines) { terminal.note(line.withoutControls) }
        return !report.isEmpty
    }
}

/// The stages of making an edition. Each is told, because all of them can take a minute.
struct EditionStages {
    let call: Subcommand.Call
    /// The file that is made.
    let path: String
    let count: Int
    private var begun = 0

    init(call: Subcommand.Call, path: String, count: Int) { (self.call, self.path, self.count) = (call, path, count) }

    /// Tells the next stage by the command that does the same.
    mutating func begin(_ words: [String]) {
        begun += 1
        call.terminal.note("\(begun) of \(count): \(shellCommand(words))")
    }

    /// Runs another command with the assumed plugins of this one. Its result goes to the error output.
    ///
    /// - Returns: whether it succeeded.
    mutating func pass(_ words: [String]) async -> Bool {
        begin(words)
        let code = await LarderCommand.run(
            words + call.arguments.assumed, registry: call.registry, environment: call.arguments.environment,
            terminal: call.terminal.notingResults)
        if code != 0 { call.terminal.complain("\(path) is not written, because '\(shellCommand(words))' failed") }
        return code == 0
    }
}
