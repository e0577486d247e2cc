import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

@Suite struct CheckCommandTests {
    private static let sound =
        #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#
    private static let warned = sound.replacing("network-only", with: "cache-first")
    private static let broken = sound.replacing("network-only", with: "network-onyl")

    private static func folder(_ text: String) throws -> Folder {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        return folder
    }

    // MARK: Exit codes

    @Test func validPoliciesPassAndOnlySummaryIsWritten() async throws {
        let folder = try Folder.withPolicies()
        let output = await Output(["check", folder.path])
        #expect(output.out.isEmpty)
        #expect(output.err.hasPrefix("3 policies, no problems found so far; not proved: the promises of "))
        #expect(output.code == 0)
    }

    @Test func unprovedPromisesAreNamedUntilTheyAreProved() async throws {
        let folder = try Folder.withPolicies()
        let unproved = await Output(["check", folder.path + "/feed.json", "--no-prove"])
        #expect(
            unproved.err
                == "1 policy, no problems found so far; not proved: the promises of feed (--prove proves them)\n")
        let proved = await Output(["check", folder.path + "/feed.json", "--prove"])
        #expect(proved.err == "1 policy, no problems\n" && proved.code == 0)
    }

    @Test(arguments: [
        (sound, [], Int32(0), "1 policy, no problems\n"), (sound, ["--strict"], 0, "1 policy, no problems\n"),
        (warned, [], 0, "1 policy, 0 errors, 1 warning\n"),
        (warned, ["--strict"], 1, "1 policy, 0 errors, 1 warning\n"),
        (broken, [], 1, "1 policy, 1 error, 0 warnings\n"),
        (broken, ["--strict"], 1, "1 policy, 1 error, 0 warnings\n"),
        ("{}", [], 1, "1 policy, 2 errors, 0 warnings\n"),
    ])
    func errorsFailAndWarningsFailOnlyWhenStrict(_ text: String, _ options: [String], code: Int32, sum: String)
        async throws
    {
        let folder = try Self.folder(text)
        let output = await Output(["check", folder.path] + options)
        #expect(output.code == code)
        #expect(output.err == sum)
    }

    @Test(arguments: [
        (["check", "--format", "xml"], "--format takes one of text, json"),
        (["check", "--strictly"], "unknown option '--strictly' (did you mean '--strict'?)"),
        (["check", "--prove", "--no-prove"], "--prove and --no-prove exclude each other"),
        (["check", "--strict=yes"], "--strict takes no value"), (["check", "--format"], "--format needs a value"),
    ])
    func usageErrorExitsWithTwo(_ arguments: [String], _ message: String) async {
        let output = await Output(arguments)
        #expect(output.code == 2)
        #expect(output.out.isEmpty)
        #expect(output.err == "larder: \(message)\nlarder: usage: larder check [PATH …] [OPTION …]\n")
    }

    // MARK: Paths

    @Test func defaultFolderIsCheckedWithoutPath() async throws {
        let folder = try Self.folder(Self.broken)
        let output = await Output(["check", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.out == (await Output(["check", folder.path])).out)
    }

    @Test func singleFileIsCheckedWithoutItsNeighbours() async throws {
        let folder = try Self.folder(Self.sound)
        try folder.write("{}", to: "other.json")
        let one = await Output(["check", folder.path + "/feed.json"])
        #expect(one.code == 0)
        #expect(one.err == "1 policy, no problems\n")
        #expect(await Output(["check", folder.path]).code == 1)
    }

    @Test func pathsAreCheckedInGivenOrder() async throws {
        let first = try Self.folder(Self.broken)
        let second = try Self.folder("{}")
        let output = await Output(["check", second.path + "/feed.json", first.path])
        #expect(output.err == "2 policies, 3 errors, 0 warnings\n")
        let lines = output.out.split(separator: "\n")
        #expect(lines.map { $0.hasPrefix(second.path) } == [true, true, false])
        #expect(lines.last?.hasPrefix(first.path + "/feed.json:1:") == true)
    }

    @Test func fileIsCheckedWithItsBase() async throws {
        let folder = try Self.folder(#"{ "extends": "_base.json", "resource": "feed" }"#)
        try folder.write(Self.sound, to: "_base.json")
        #expect(await Output(["check", folder.path + "/feed.json"]).code == 0)
    }

    @Test(arguments: [
        (#"{ "strategy": "network-only", "store": { "use": "memory", "capacity": "20XB" } }"#, "1 error, 0 warnings"),
        (#"{ "strategy": "network-only", "store": "memory" }"#, "0 errors, 1 warning"), ("{", "1 error, 0 warnings"),
    ]) func problemOfABaseIsToldOnce(_ base: String, _ sum: String) async throws {
        let folder = try Folder()
        try folder.write(base, to: "_base.json")
        for name in ["a", "b", "c"] {
            try folder.write(
                #"{ "extends": "_base.json", "resource": "\#(name)", "origin": { "use": "constant", "value": 1 } }"#,
                to: name + ".json")
        }
        let output = await Output(["check", folder.path])
        #expect(output.out.split(separator: "\n").count == 1 && output.out.hasPrefix(folder.path + "/_base.json:1:"))
        #expect(output.err == "3 policies, \(sum)\n")
        guard output.code == 1 else { return }
        let load = await Output(["load", "d", "--policies", folder.path])
        #expect(load.err == output.out)
    }

    @Test func folderCheckSkipsFilesThatAreNoPolicies() async throws {
        let folder = try Self.folder(Self.sound)
        for name in ["_base.json", "policy.schema.json", ".hidden.json", "notes.txt"] {
            try folder.write("{", to: name)
        }
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "more.json"), withIntermediateDirectories: true)
        let output = await Output(["check", folder.path])
        #expect(output.code == 0)
        #expect(output.err == "1 policy, no problems\n")
    }

    @Test(arguments: ["_base.json", "policy.schema.json", ".hidden.json", "notes.txt"])
    func namedFileThatIsNoPolicyIsError(_ name: String) async throws {
        let folder = try Folder()
        try folder.write(Self.sound, to: name)
        let output = await Output(["check", folder.path + "/" + name])
        #expect(output.code == 1)
        #expect(
            output.out
                == "\(folder.path)/\(name): error: this is not the name of a policy file; expected a file such as feed.json\n"
        )
    }

    @Test func missingPathAndEmptyFolderAreErrors() async throws {
        let empty = try Folder()
        let path = empty.path + "/missing"
        #expect(
            await Output(["check", path]).out
                == "\(path): error: the folder of policies cannot be read: cannot list the folder: No such file or directory\n"
        )
        #expect(
            await Output(["check", path + "/feed.json"]).out
                == "\(path)/feed.json: error: cannot open the file: No such file or directory\n")
        let output = await Output(["check", empty.path])
        #expect(
            output.out
                == "\(empty.path): error: there are no policies in this folder; expected a file such as feed.json\n")
        #expect(output.code == 1)
    }

    @Test func namedPipeIsErrorThatSaysSo() async throws {
        let folder = try Self.folder(Self.sound)
        let pipe = folder.path + "/pipe.json"
        #expect(mkfifo(pipe, 0o600) == 0)
        for arguments in [["check", pipe], ["simulate", "--trace", pipe], ["simulate", "--traffic", pipe]] {
            let output = await Output(arguments)
            #expect(output.code == 1)
            #expect((output.out + output.err).contains("cannot read the file: it is not a regular file"))
        }
    }

    @Test func fileOfScenariosIsNamedWithItsCommand() async throws {
        let text = #"{ "resource": "feed", "scenarios": [] }"#
        let folder = try Self.folder(text)
        for path in [folder.path, folder.path + "/feed.json"] {
            let output = await Output(["check", path])
            let column = text.distance(from: text.startIndex, to: text.firstRange(of: "\"scenarios\"")!.lowerBound) + 1
            #expect(
                output.out == """
                    \(folder.path)/feed.json:1:\(column): error: this is a file of scenarios, not a policy; run it with \
                    'larder test' [at $.scenarios]

                    """)
            #expect(output.code == 1)
        }
    }

    @Test func missingFileThatPolicyReadsIsWarnedOfAtItsPosition() async throws {
        let seeded = """
            { "resource": "feed", "origin": { "use": "file", "path": "Seeds/feed.json" }, "strategy": "network-only",
              "fallbacks": [ { "use": "file", "path": "Seeds/old.json" } ] }
            """
        let folder = try Self.folder(seeded)
        let message = "warning: there is no such file in the policy's folder; expected the path of a file that exists"
        let output = await Output(["check", "--strict", folder.path])
        #expect(
            output.out == """
                \(folder.path)/feed.json:1:58: \(message) [at $.origin.path]
                \(folder.path)/feed.json:2:43: \(message) [at $.fallbacks[0].path]

                """)
        #expect(output.code == 1)
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Seeds"), withIntermediateDirectories: true)
        for name in ["feed", "old"] { try folder.write("{}", to: "Seeds/\(name).json") }
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
    }

    @Test(arguments: [
        (#"{ "metrics": { "file": "feed.json" } }"#, "1:24", "$.metrics.file", true),
        (#"{ "metrics": { "prometheus": "feed" } }"#, "1:30", "$.metrics.prometheus", false),
        (#"{ "log": { "file": "feed.json" } }"#, "1:20", "$.log.file", true),
    ])
    func fileOfProcessWithNameOfResourceIsWarnedOf(
        _ text: String, position: String, path: String, isPolicy: Bool
    ) async throws {
        let folder = try Self.folder(Self.sound)
        try folder.write(text, to: "_larder.json")
        let output = await Output(["check", folder.path])
        let reason =
            isPolicy
            ? "a policy file has this name, so the file would replace the policy if both were in one folder"
            : "the folder of a resource's copies has this name, so the file cannot be written"
        #expect(
            output.out == """
                \(folder.path)/_larder.json:\(position): warning: \(reason); expected a name that no resource has \
                [at \(path)]

                """)
        #expect(output.code == 0)
    }

    // MARK: The cache folder

    #if os(Linux)
        @Test(arguments: ["/proc", "/proc/larder"]) func folderThatTakesNoFilesIsWarnedOf(_ cache: String) async throws
        {
            let folder = try Self.folder(Self.sound)
            let output = await Output(["check", folder.path, "--cache", cache])
            #expect(
                output.out.hasPrefix("\(cache): warning: the cache folder cannot be used: cannot write to the folder: ")
            )
            #expect(output.err == "1 policy, 0 errors, 1 warning\n")
        }
    #endif

    @Test func missingCacheFolderThatCanBeMadeIsNeitherReportedNorMade() async throws {
        let folder = try Self.folder(Self.sound)
        let output = await Output(["check", folder.path, "--cache", folder.path + "/deep/cache"])
        #expect(output.code == 0 && output.err == "1 policy, no problems\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/deep"))
    }

    @Test func unusableCacheFolderIsWarning() async throws {
        let folder = try Self.folder(Self.sound)
        try folder.write("", to: "cache")
        for path in [folder.path + "/cache", folder.path + "/cache/deep"] {
            let output = await Output(["check", folder.path, "--cache", path])
            #expect(output.code == 0 && output.err == "1 policy, 0 errors, 1 warning\n")
            #expect(
                output.out
                    == "\(path): warning: the cache folder cannot be used: cannot make a folder: Not a directory\n")
            #expect(await Output(["check", folder.path, "--cache", path, "--strict"]).code == 1)
        }
    }

    @Test func unusableDataFolderIsWarning() async throws {
        let folder = try Self.folder(Self.sound)
        try folder.write("", to: "data")
        let output = await Output(["check", folder.path, "--data", folder.path + "/data/deep"])
        #expect(output.code == 0 && output.err == "1 policy, 0 errors, 1 warning\n")
        #expect(
            output.out.hasSuffix("warning: the data folder cannot be used: cannot make a folder: Not a directory\n"))
        let sound = await Output(["check", folder.path, "--data", folder.path + "/new"])
        #expect(sound.err == "1 policy, no problems\n" && !FileManager.default.fileExists(atPath: folder.path + "/new"))
    }

    @Test func copiesOfAnotherSourceAreCounted() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Policies"), withIntermediateDirectories: true)
        func write(seed: Int) throws {
            try folder.write(
                """
                { "resource": "feed", "origin": { "use": "sample", "payload": "feed", "seed": \(seed), "latency": "0s" },
                  "around": [{ "use": "timeout", "after": "5s" }], "strategy": "cache-first", "store": { "use": "file", "limit": "5s" } }
                """, to: "Policies/feed.json")
        }
        try write(seed: 1)
        let (policies, cache) = (folder.path + "/Policies", folder.path + "/cache")
        for id in ["1", "2"] {
            let loaded = await Output(["load", "feed", "id=" + id, "--policies", policies, "--cache", cache])
            #expect(loaded.code == 0, "\(loaded)")
        }
        #expect(await Output(["check", policies, "--cache", cache]).err == "1 policy, no problems\n")
        try write(seed: 2)
        let output = await Output(["check", policies, "--cache", cache])
        #expect(
            output.out == """
                \(cache): feed: warning: 2 copies are of another source than the policy's and not used; expected the former \
                URL in "formerly", if it gave the same data

                """)
        #expect(output.code == 0)
        // The command that loads does not use them either.
        let kept = await Output(
            ["load", "feed", "id=1", "--cached-only", "--policies", policies, "--cache", cache])
        #expect(kept.code == 1 && kept.out.isEmpty && kept.err == "larder: feed: not cached\n", "\(kept)")
    }

    @Test func folderInPlaceOfDumpOrLogIsWarning() async throws {
        let folder = try Self.folder(Self.sound)
        try folder.write(#"{ "metrics": { "file": "${NAME}" }, "log": {} }"#, to: "_larder.json")
        for name in ["cache/canary", "cache/decisions.jsonl"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        let output = await Output(
            ["check", folder.path, "--cache", folder.path + "/cache"], environment: ["NAME": "canary"])
        #expect(
            output.out.split(separator: "\n") == [
                "\(folder.path)/cache: warning: there is a folder where the file of 'metrics' should be",
                "\(folder.path)/cache: warning: there is a folder where the file of 'log' should be",
            ])
    }

    // MARK: JSON and rules

    @Test(arguments: BrokenPolicy.all) func jsonContainsFactsOfText(_ policy: BrokenPolicy) async throws {
        let folder = try policy.folder()
        let output = await Output(["check", folder.path, "--format", "json"], environment: policy.environment)
        #expect(output.code == (policy.hasErrors ? 1 : 0))
        #expect(output.err.isEmpty)
        let facts = try Facts(output.out)
        #expect(facts["policies"].int == 1)
        let lines = facts["problems"].items.map { problem in
            let file = (problem["file"].string ?? "").replacing(folder.path + "/", with: "")
            let place = problem["line"].int.map { ":\($0):\(problem["column"].int ?? 0)" } ?? ""
            let path = problem["path"].string ?? ""
            return "\(file)\(place): \(problem["severity"].string ?? ""): \(problem["message"].string ?? "")"
                + (problem["expected"].string.map { "; expected \($0)" } ?? "")
                + (problem["suggestion"].string.map { " (did you mean '\($0)'?)" } ?? "")
                + (path == "$" ? "" : " [at \(path)]")
        }
        // JSON escapes control characters.
        if !policy.name.hasSuffix("control-characters") { #expect(lines == policy.expected) }
        #expect(facts["errors"].int == policy.expected.filter { $0.contains(": error: ") }.count)
        #expect(facts["warnings"].int == policy.expected.filter { $0.contains(": warning: ") }.count)
    }

    @Test func rulesAreListedInBothFormats() async throws {
        let text = await Output(["check", "--rules"])
        #expect(text.code == 0)
        #expect(text.out.split(separator: "\n").count == LintRule.all.count)
        let items = try Facts(await Output(["check", "--rules", "--format", "json"]).out).items
        #expect(items.map { $0["rule"].string } == LintRule.all.map(\.name))
        #expect(items.map { $0["severity"].string } == LintRule.all.map(\.severity.rawValue))
        for (line, rule) in zip(text.out.split(separator: "\n"), LintRule.all) {
            #expect(
                line.hasPrefix(rule.name + " ") && line.hasSuffix(rule.why) && line.contains(rule.severity.rawValue))
        }
        #expect(Set(LintRule.all.map(\.name)).count == LintRule.all.count)
    }

    @Test func policiesOfAFolderThatIsNamedTwiceCountOnce() async throws {
        let folder = try Self.folder(Self.warned)
        let output = await Output(["check", folder.path, folder.path + "/.", folder.path + "/"])
        #expect(output.err == "1 policy, 0 errors, 1 warning\n", "\(output)")
    }

    @Test func missingExtendedFileIsToldOnce() async throws {
        let folder = try Folder()
        for name in ["a", "b", "c"] {
            try folder.write(#"{ "extends": "_base.json", "resource": "\#(name)" }"#, to: name + ".json")
        }
        let output = await Output(["check", folder.path])
        #expect(output.err == "3 policies, 1 error, 0 warnings\n", "\(output)")
        #expect(output.out.hasPrefix("\(folder.path)/a.json:1:14: error: '_base.json': cannot open the file"))
    }

    @Test func dumpIsToldByItsKindAndWithoutAdviceToAssumePlugins() async throws {
        let folder = try Folder()
        try folder.write(#"{ "format": "larder-metrics/2", "process": "app", "resources": [] }"#, to: "dump.json")
        let output = await Output(["check", folder.path + "/dump.json"])
        #expect(
            output.out
                == "\(folder.path)/dump.json:1:3: error: this is a metrics dump, not a policy; add it up with 'larder report' "
                + "[at $.format]\n", "\(output)")
        #expect(!output.err.contains("--assume") && output.code == 1)
        let scenarios = #"{ "resource": "feed", "scenarios": [] }"#
        for (name, text) in [("dump", try folder.text(of: "dump.json")), ("feed", scenarios)] {
            try folder.write(text, to: name + ".json")
            let explained = await Output(["explain", name, "--policies", folder.path])
            #expect(explained.code == 1 && !explained.err.contains("assume"), "\(explained)")
        }
    }
}
