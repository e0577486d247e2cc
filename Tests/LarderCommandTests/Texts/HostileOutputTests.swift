import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderSystem
@testable import LarderCommand
import LarderReports
@testable import LarderCore

/// Control characters that come from arguments, keys, dumps and plugins: a terminal must not act on them.
@Suite struct HostileOutputTests {
    /// ESC, CSI as one character, DEL, NEL, a bidi override, a bidi isolate, and a line separator.
    private static let hostile = "a\u{1B}[2J\u{9B}31m\u{7F}\u{85}\u{202E}\u{2066}\u{2028}\rb"

    private static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            let isControl = [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
            return scalar == "\n" || scalar == "\t" || !isControl && !scalar.properties.isBidiControl
        }
    }

    private static func expectHarmless(_ output: Output, _ location: SourceLocation = #_sourceLocation) {
        #expect(isHarmless(output.out), "\(output.out.debugDescription)", sourceLocation: location)
        #expect(isHarmless(output.err), "\(output.err.debugDescription)", sourceLocation: location)
    }

    @Test(arguments: [
        ["HOSTILE"], ["help", "HOSTILE"], ["load", "HOSTILE"], ["load", "feed", "HOSTILE"], ["load", "--HOSTILE"],
        ["explain", "HOSTILE"], ["check", "HOSTILE"], ["plugins", "HOSTILE"], ["plugins", "store", "HOSTILE"],
        ["report", "HOSTILE"], ["prove", "HOSTILE"], ["test", "HOSTILE"], ["diff", "HOSTILE", "HOSTILE"],
        ["new", "HOSTILE"], ["simulate", "HOSTILE"], ["store", "ls", "HOSTILE"], ["store", "HOSTILE"],
        ["dashboard", "--p95", "HOSTILE"], ["load", "feed", "--format", "HOSTILE"],
        ["report", "HOSTILE", "--json"], ["plugins", "HOSTILE", "--json"],
    ])
    func argumentsAreEchoedWithoutControlCharacters(_ words: [String]) async throws {
        let folder = try Folder.withPolicies()
        let arguments = words.map { $0.replacing("HOSTILE", with: Self.hostile) }
        let takesPolicies = ["load", "explain", "prove", "test", "store"].contains(words[0])
        let output = await Output(arguments + (takesPolicies ? ["--policies", folder.path] : []))
        #expect(output.code != 0)
        Self.expectHarmless(output)
    }

    @Test func keyOfAnEntryIsShownWithoutControlCharacters() async throws {
        let app = try await StoreCommandTests.App(#"{ "use": "sqlite" }"#, entries: 0)
        let key = Key(resource: "feed", scope: Self.hostile, parameters: ["id": Self.hostile])
        let metadata = Metadata(
            fetchedAt: Dumps.now, etag: "\"\(Self.hostile)\"", contentType: "text/\(Self.hostile)",
            tags: [Self.hostile])
        let request = Request("feed", ["id": Self.hostile], scope: Self.hostile)
        #expect(try await app.feed.stock(Entry(Data("1".utf8), metadata), for: request))
        Self.expectHarmless(await app.run("get", "feed", String(key.digest.prefix(16)), "--keys"))
        Self.expectHarmless(await app.run("get", "feed", String(key.digest.prefix(16)), "--keys", "--payload"))
        Self.expectHarmless(await app.run("get", "feed", String(key.digest.prefix(16)), "--keys", "--json"))
        Self.expectHarmless(await app.run("ls", "feed", "--keys"))
        await app.pantry.close()
    }

    @Test(arguments: ["text", "json", "prometheus", "openmetrics"])
    func reportHasNoControlCharactersOfDumps(_ format: String) async throws {
        let dumps = try Dumps()
        var revision = RevisionDump(Self.hostile, strategy: Self.hostile, [.loads: 10])
        revision.metrics.faults = [StoreFaultKey(tier: Self.hostile, kind: .read): 3]
        var dump = Dumps.dump(resource: Self.hostile, host: Self.hostile, [revision])
        for fact in ["running", "channel", "offered", "arm", "fate", "why", "channel_failure", "state", Self.hostile] {
            dump.supply[fact] = Self.hostile
        }
        try dumps.write("dump.json", dump)
        Self.expectHarmless(await dumps.report("--format", format))
    }

    @Test func controlCharactersInLabelsAreEscaped() {
        let family = MetricFamily("x", kind: .gauge, help: Self.hostile).with([
            .init(labels: [("a", Self.hostile)], .count(1))
        ])
        for format in TextFormat.allCases {
            let text = format.text([family])
            #expect(Self.isHarmless(text) && text.contains(#"\\u{1b}[2J\\u{9b}31m"#), "\(text.debugDescription)")
        }
    }

    @Test(arguments: [[], ["validator"], ["validator", "bad"], ["--format", "markdown"], ["--json"]])
    func pluginsAreDescribedWithoutControlCharacters(_ words: [String]) async throws {
        var registry = Registry.standard
        try registry.register(
            .validator("bad", Self.hostile, Setting("most", .int(1...9), default: 1, help: Self.hostile)) { _, _ in
                HarmlessValidator()
            })
        let output = await Output(["plugins"] + words, registry: registry)
        #expect(output.code == 0)
        Self.expectHarmless(output)
    }

    @Test func textInYAMLHasNoControlCharacters() {
        let json: JSON = ["rules": .list([["summary": .string(Self.hostile)]])]
        #expect(Self.isHarmless(json.yaml) && json.yaml.contains(#"\u001b[2J\u009b31m"#), "\(json.yaml)")
        #expect(Self.isHarmless(json.text()))
    }

    @Test func textWithEscapesIsReadAsItWas() throws {
        let bytes = Array(JSON.string(Self.hostile).text().utf8)
        #expect(try JSONParser.parse(SourceText(name: "text", bytes: bytes)).string == Self.hostile)
    }
}

private struct HarmlessValidator: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission { .keep }
}
