import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand

@Suite struct LoadCommandTests {
    @Test func loadShowsOnlyTheWarningsOfItsResource() async throws {
        let folder = try Folder()
        for name in ["feed", "other"] {
            try folder.write(
                """
                { "resource": "\(name)", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only",
                  "store": "memory" }
                """, to: "\(name).json")
        }
        let output = await Output(["load", "feed", "--policies", folder.path, "--cache", folder.path + "/c"])
        #expect(output.code == 0)
        #expect(output.err.contains("/feed.json:") && !output.err.contains("/other.json:"), "\(output.err)")
    }

    @Test func damagedDatabaseThatIsSetAsideIsTold() async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-first",
              "store": { "use": "sqlite", "file": "db", "limit": "5s" } }
            """, to: "feed.json")
        let arguments = ["load", "feed", "--policies", folder.path, "--cache", folder.path + "/cache"]
        #expect(await Output(arguments).err.isEmpty)
        let cache = folder.path + "/cache/"
        let names = try FileManager.default.subpathsOfDirectory(atPath: cache)
        let file = cache + (try #require(names.first { $0.hasSuffix("/db/db") }))
        try Data("no database".utf8).write(to: URL(filePath: file))
        let output = await Output(arguments)
        #expect(output.code == 0 && output.out == "1", "\(output)")
        #expect(output.err.contains("the database was damaged and is now db-damaged; a new one is begun"), "\(output)")
        #expect(output.err.contains("[in \(file.dropLast(3))]"), "\(output)")
    }

    private static func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "motto", "origin": { "use": "constant", "value": { "text": "less" } }, "strategy": "cache-first",
              "store": { "use": "file", "limit": "5s" } }
            """, to: "motto.json")
        return folder
    }

    private static func load(_ folder: Folder, _ arguments: String...) async -> Output {
        await Output(["load"] + arguments + ["--policies", folder.path, "--cache", folder.path + "/cache"])
    }

    @Test func payloadGoesToOutputAndTrailToErrorOutput() async throws {
        let folder = try Self.folder()
        let first = await Self.load(folder, "motto", "--trail")
        #expect(first.code == 0)
        #expect(first.out == #"{"text":"less"}"#)
        #expect(first.err.contains("fresh from origin, ") && first.err.contains(" old, stored"))
        let second = await Self.load(folder, "motto", "--trail")
        #expect(second.out == first.out)
        #expect(second.err.contains("fresh from file"))
    }

    @Test func trailSaysUntilWhenTheValueIsFreshAndWhatDecidedThat() async throws {
        let folder = try Folder()
        let served = Plugin.origin("served", "Answers as a server does.") { context in
            Served(world: context.world)
        }
        var registry = Registry.standard
        try registry.register(served)
        try folder.write(
            """
            { "resource": "motto", "origin": "served", "strategy": "cache-first", "validators": ["http"],
              "store": { "use": "file", "limit": "5s" } }
            """, to: "motto.json")
        let arguments = ["load", "motto", "--trail", "--policies", folder.path, "--cache", folder.path + "/cache"]
        let live = await Output(arguments, registry: registry)
        #expect(live.err.contains("  status 203, fresh until 2"))
        #expect(live.err.contains(" UTC, http max-age 3600\n  Larder; fwd=miss; fwd-status=203; ttl=3"))
        let copy = await Output(arguments, registry: registry)
        #expect(copy.err.contains(" UTC, http max-age 3600\n  Larder; hit; ttl=3"))
    }

    @Test func cachedOnlyWithoutCopyFails() async throws {
        let output = await Self.load(try Self.folder(), "motto", "--cached-only")
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        #expect(output.err == "larder: motto: not cached\n")
    }

    @Test func eachRepeatedLoadHasItsOwnLine() async throws {
        let output = await Self.load(try Self.folder(), "motto", "--repeat", "3")
        #expect(output.out == String(repeating: "{\"text\":\"less\"}\n", count: 3))
    }

    @Test func repeatedLoadsWriteTheDumpAndASingleOneDoesNot() async throws {
        let folder = try Self.folder()
        try folder.write(#"{ "metrics": { "file": "metrics.json" } }"#, to: "_larder.json")
        let dump = folder.path + "/cache/metrics.json"
        #expect(await Self.load(folder, "motto").code == 0 && Disk.item(dump) == nil)
        #expect(await Self.load(folder, "motto", "--repeat", "5").code == 0)
        let revision = try Facts(folder.text(of: "cache/metrics.json"))["resources"].items.first?["revisions"].items
            .first
        #expect(revision?["total"]["counters"]["loads"].int == 5)
    }

    @Test func unwritableRecordingIsReportedWithItsFile() async throws {
        let folder = try Self.folder()
        let file = folder.path + "/motto.json/trace.jsonl"
        let output = await Self.load(folder, "motto", "--record", file)
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("larder: \(file): the recording cannot be written: "))
    }

    @Test func unknownResourceIsFailureThatListsKnownResources() async throws {
        let output = await Self.load(try Self.folder(), "motta")
        #expect(output.code == 1)
        #expect(output.err == "larder: motta: no such resource; there are: motto (did you mean 'motto'?)\n")
    }

    @Test(arguments: [
        #"{ "resource": "other", "origin": { "use": "http", "url": "${UNSET}" }, "strategy": "network-only" }"#,
        #"{ "resource": "other", "origin": "nowhere", "strategy": "network-only" }"#, "{",
    ]) func errorOfAnotherPolicyDoesNotStopALoad(_ policy: String) async throws {
        let folder = try Self.folder()
        try folder.write(policy, to: "other.json")
        let output = await Self.load(folder, "motto")
        #expect(output.code == 0 && output.out == #"{"text":"less"}"# && output.err.isEmpty, "\(output.err)")
        let unknown = await Self.load(folder, "motta")
        #expect(unknown.err == "larder: motta: no such resource; there are: motto (did you mean 'motto'?)\n")
        let own = await Self.load(folder, "other")
        #expect(own.code == 1 && own.err.contains("/other.json:1:"))
    }

    @Test func errorsOfAllPoliciesAreToldIfNoneIsSound() async throws {
        let folder = try Self.folder()
        try folder.edit("motto.json", "cache-first", "cash-first")
        let output = await Self.load(folder, "other")
        #expect(output.code == 1 && output.err.contains("unknown strategy 'cash-first'"))
    }

    @Test func brokenPolicyIsReportedWithFileLineAndColumn() async throws {
        let folder = try Self.folder()
        try folder.edit("motto.json", "cache-first", "cash-first")
        let output = await Self.load(folder, "motto")
        #expect(output.code == 1)
        #expect(output.err.contains("motto.json:1:98: error: unknown strategy 'cash-first'"))
        #expect(output.err.contains("(did you mean 'cache-first'?)"))
    }

    @Test(arguments: [
        (["load"], "load takes a RESOURCE"),
        (["load", "feed", "42"], "a parameter is written NAME=VALUE"),
        (["load", "feed", "--refresh", "--cached-only"], "--refresh and --cached-only exclude each other"),
        (["load", "feed", "--repeat", "0"], "--repeat takes a whole number from 1 to 1000000"),
        (["load", "feed", "--deadline", "5"], "--deadline takes a duration such as 500ms or 30s"),
        (["load", "feed", "--scope", ""], "--scope needs the name of an account; it is empty"),
        (["load", "feed", "id=1", "id=2"], "a parameter is given twice"),
        (["load", "feed", "--every", "5s"], "--every goes with --watch"),
        (["load", "feed", "--policies"], "--policies needs a value"),
        (["load", "feed", "--trail=yes"], "--trail takes no value"),
        (["load", "feed", "--polices", "x"], "unknown option '--polices'"),
        (["demo", "x", "y"], "demo takes one PATH"),
        (["demo", "x", "--policies", "y"], "PATH and --policies exclude each other"),
        (["demo", "--seed", "x"], "--seed takes a whole number from 0 to \(Int.max)"),
        (["lode"], "unknown command 'lode'"), (["chekc"], "unknown command 'chekc' (did you mean 'check'?)"),
    ])
    func usageErrorIsExplained(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2)
        #expect(output.out.isEmpty)
        #expect(output.err.hasPrefix("larder: \(message)"))
    }

    @Test func helpAndVersionGoToOutput() async {
        #expect(await Output(["--version"]).out == "larder \(LarderCommand.version)\n")
        let help = await Output(["--help"])
        #expect(help.code == 0)
        for command in LarderCommand.commands {
            #expect(help.out.contains(command.name) && help.out.contains(command.summary))
            let own = await Output([command.name, "--help"])
            #expect(own.code == 0)
            for option in command.options { #expect(own.out.contains("--" + option.name)) }
        }
    }
}

/// An origin that answers as an HTTP server does.
private struct Served: Loader {
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let fields: Fields = ["Cache-Control": "max-age=3600"]
        return Loaded(
            Entry(
                Data("less".utf8),
                Metadata(httpStatus: 203, fields: fields, askedAt: world.now, arrivedAt: world.now)))
    }
}
