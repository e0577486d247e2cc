import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

@Suite struct EnvironmentTests {
    // MARK: Reading it

    @Test(arguments: [
        ("${A}", "alpha"), ("<${A}|${B}>", "<alpha|beta>"), ("${NONE:-x}", "x"), ("${EMPTY:-x}", "x"),
        ("${A:-x}", "alpha"),
        ("${NONE:-}", ""), ("${NONE:-a:-b}", "a:-b"), ("${NONE:-$A}", "$A"), ("$${A}", "${A}"), ("$$${A}", "$${A}"),
        ("$A {A} $", "$A {A} $"), ("${DOLLAR}${A}", "5$alpha"), ("${NESTED}", "${A}"),
        ("${A}$${B}${B}", "alpha${B}beta"),
        ("größe ${UMLAUT}", "größe ä"),
    ])
    func textIsFilledInOnceAndFromTheLeft(_ written: String, _ meant: String) async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "constant", "value": "\#(written)" }, "strategy": "network-only" }"#,
            to: "feed.json")
        let output = await Output(
            ["load", "feed", "--policies", folder.path],
            environment: [
                "A": "alpha", "B": "beta", "EMPTY": "", "DOLLAR": "5$", "NESTED": "${A}", "UMLAUT": "ä",
            ])
        #expect(output.out == "\"\(meant)\"", "\(output.err)")
        let shown = await Output(
            ["explain", "feed", "--effective", "--policies", folder.path],
            environment: ["A": "alpha", "B": "beta", "DOLLAR": "5$", "NESTED": "${A}", "UMLAUT": "ä"])
        #expect(try Facts(shown.out)["origin"]["value"].string == written)
    }

    @Test func namesOfSettingsAndAboutTextAreNotReplaced() async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "feed", "about": "${A", "origin": { "use": "constant", "value": { "${A}": "${A}" } },
              "strategy": "network-only" }
            """, to: "feed.json")
        let output = await Output(
            [
                "load", "feed", "--policies", folder.path, "--cache", folder.path + "/cache", "--data",
                folder.path + "/data",
            ],
            environment: ["A": "alpha"])
        #expect(output.out == #"{"${A}":"alpha"}"#)
    }

    // MARK: Never telling it

    private static let secrets = [
        "FOLDER": "hunter2folder", "TYPE": "hunter2type", "SPAN": "77s", "NAME": "network-first",
    ]

    private static let policy = """
        { "resource": "feed",
          "origin": { "use": "file", "path": "${FOLDER}/feed.json", "contentType": "text/${TYPE}" },
          "around": [ { "use": "retry", "retries": 1, "backoff": "0s" }, { "use": "timeout", "after": "${SPAN}" } ],
          "strategy": { "use": "${NAME}", "patience": "1s" },
          "validators": [ "checksum" ],
          "store": { "use": "file", "directory": "${FOLDER}" },
          "fallbacks": [ { "use": "file", "path": "${FOLDER}/seed.json" }, { "use": "constant", "value": 1 } ] }
        """

    /// Returns a folder with the policy. Its cache folder can be created only if `canCache` is true.
    private static func folder(canCache: Bool = true) throws -> Folder {
        let folder = try Folder()
        try folder.write(policy, to: "feed.json")
        if !canCache { try folder.write("", to: "cache") }
        return folder
    }

    @Test(arguments: [
        ["explain", "feed", "--format", "tree"], ["explain", "feed", "--format", "json"],
        ["explain", "feed", "--format", "mermaid"], ["explain", "feed", "--effective"],
        ["load", "feed", "--trail"], ["load", "feed", "--trail", "--refresh"],
        ["load", "feed", "--cached-only", "--trail"],
    ])
    func commandsOnValidPolicyDoNotPrintTheValue(_ arguments: [String]) async throws {
        for canCache in [true, false] where canCache || arguments[0] == "load" {
            let folder = try Self.folder(canCache: canCache)
            let cache = arguments[0] == "load" ? ["--cache", folder.path + "/cache"] : []
            let output = await Output(arguments + ["--policies", folder.path] + cache, environment: Self.secrets)
            #expect(!(output.out + output.err).isEmpty)
            for secret in ["hunter2", "77s", "77 s"] {
                #expect(!output.out.contains(secret) && !output.err.contains(secret), "\(secret)")
            }
        }
    }

    @Test func valueFromEnvironmentTakesEffect() async throws {
        let folder = try Self.folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "hunter2folder"), withIntermediateDirectories: true)
        try folder.write("42", to: "hunter2folder/feed.json")
        let cache = folder.path + "/cache"
        let output = await Output(
            ["load", "feed", "--policies", folder.path, "--cache", cache], environment: Self.secrets)
        #expect(output.out == "42")
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache + "/feed") == ["hunter2folder"])
        let tree = await Output(["explain", "feed", "--policies", folder.path], environment: Self.secrets)
        #expect(tree.out.contains("timeout  (after ${SPAN})"))
        #expect(tree.out.contains("file  (path ${FOLDER}/feed.json, contentType text/${TYPE})"))
    }

    @Test func trailAndErrorDoNotContainTheValue() async throws {
        let folder = try Self.folder()
        let pantry = try await Pantry(
            policies: folder.url, cache: folder.url.appending(path: "cache"), environment: Self.secrets)
        let loaded = try await pantry.resource("feed").load()
        #expect(loaded.source == .fallback("constant"))
        #expect(!"\(loaded)".contains("hunter2") && !loaded.trail.description.contains("hunter2"))
        #expect(loaded.trail.lines.contains { $0.hasPrefix("fallback file: ") })
        do {
            _ = try await pantry.resource("feed").load(mode: .cachedOnly)
            Issue.record("nothing is cached")
        } catch {
            #expect(!"\(error)".contains("hunter2"))
        }
        #expect(pantry.warnings.allSatisfy { !$0.description.contains("hunter2") })
    }
}
