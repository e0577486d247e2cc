import LarderFoundation
import Larder
import Testing

/// A resource whose loads a section answers, in the commands.
@Suite struct AnsweringSectionTests {
    /// Answers each load with what it fetches.
    private struct Passing: AnsweringAttachment {
        struct Answer: Loader {
            let context: SectionContext

            func load(_ call: Call) async throws -> Loaded<Entry> {
                Loaded(try await context.fetch(Request(context.resource)), from: .store("ledger"))
            }
        }

        let context: SectionContext

        var loader: any Loader { Answer(context: context) }
    }

    private static let registry = Result {
        var registry = Registry.standard
        try registry.register(
            .section(
                "ledger", "Answers loads.", Setting("page", .int(1...9), default: 1, help: "The page"),
                traits: { _ in .with { $0.answersLoads = true } }
            ) { context, _ in Passing(context: context) })
        return registry
    }

    private static let policy = """
        { "resource": "sums", "origin": { "use": "sample", "payload": "catalog" }, "ledger": {},
          "promises": { "waits": "2s", "neverOlderThan": "1h" } }
        """

    private static func run(_ arguments: [String], on text: String = policy) async throws -> Output {
        let folder = try Folder()
        try folder.write(text, to: "sums.json")
        let own = arguments[0] == "check" ? [folder.path] : ["--policies", folder.path]
        return await Output(arguments + own, registry: try registry.get())
    }

    @Test func policyIsCheckedExplainedAndLoaded() async throws {
        let check = try await Self.run(["check"])
        #expect(check.code == 0, "\(check.out)\(check.err)")
        let explain = try await Self.run(["explain", "sums"])
        #expect(explain.out.contains("section: ledger  (answers loads)"), "\(explain.out)")
        #expect(explain.out.contains("awaited, because 'ledger' answers loads"), "\(explain.out)")
        for format in ["mermaid", "json"] {
            let other = try await Self.run(["explain", "sums", "--format", format])
            #expect(other.code == 0 && other.out.contains("ledger"), "\(other.err)")
        }
        let load = try await Self.run(["load", "sums"])
        #expect(load.code == 0 && load.out.contains("name"), "\(load.out)\(load.err)")
    }

    @Test func promisesAreNotPlayedAndNotBroken() async throws {
        let prove = try await Self.run(["prove"])
        #expect(prove.code == 0, "\(prove.err)")
        #expect(prove.out.contains("– waits 2s: not played"), "\(prove.out)")
        #expect(
            prove.out.contains("not complete: section 'ledger' answers loads, and situations are those of copies"),
            "\(prove.out)")
        let coverage = try await Self.run(["test", "--coverage"])
        #expect(
            coverage.out.contains("sums: section 'ledger' answers loads, and situations are those of copies"),
            "\(coverage.out)")
    }

    @Test func changeIsTold() async throws {
        let folder = try Folder()
        for name in ["old", "new"] { try folder.make(name) }
        try folder.write(Self.policy, to: "old/sums.json")
        try folder.write(
            #"{ "resource": "sums", "origin": { "use": "sample", "payload": "catalog" }, "strategy": "network-only" }"#,
            to: "new/sums.json")
        for (old, new) in [("old", "new"), ("new", "old")] {
            let diff = await Output(
                ["diff", folder.path + "/" + old, folder.path + "/" + new], registry: try Self.registry.get())
            #expect(diff.code == 0, "\(diff.err)")
            #expect(diff.out.contains("ledger") && diff.out.contains("0 of 0 situations differ"), "\(diff.out)")
            #expect(
                diff.out.contains("not complete: section 'ledger' answers loads, and situations are those of copies"),
                "\(diff.out)")
        }
    }

    @Test func requestsAreSimulatedWithANote() async throws {
        let simulate = try await Self.run(["simulate", "--traffic", "rate=1,for=1m", "--try", "cache-first"])
        #expect(simulate.code == 0, "\(simulate.err)")
        #expect(simulate.err.contains("section 'ledger' answers loads; the simulated origin"), "\(simulate.err)")
        #expect(simulate.out.contains("strategy") && simulate.out.contains("ledger"), "\(simulate.out)")
    }

    @Test func scenarioIsPlayedByTheSection() async throws {
        let folder = try Folder()
        try folder.write(Self.policy, to: "sums.json")
        try folder.make("Scenarios")
        try folder.write(
            """
            { "resource": "sums", "scenarios": [{ "name": "it", "origin": { "takes": "1s", "value": 1 },
              "asks": { "expect": { "value": 1, "takes": "1s" } } }] }
            """, to: "Scenarios/sums.json")
        let output = await Output(["test", "--policies", folder.path], registry: try Self.registry.get())
        #expect(output.code == 0, "\(output.out)\(output.err)")
    }

    @Test func sectionThatIsAssumedMayAnswerLoads() async throws {
        let folder = try Folder()
        try folder.write(Self.policy, to: "sums.json")
        let assumed = await Output(["check", folder.path, "--assume", "section:ledger"])
        #expect(assumed.code == 0, "\(assumed.out)\(assumed.err)")
    }
}

extension Folder {
    fileprivate func make(_ name: String) throws {
        try FileManager.default.createDirectory(at: url.appending(path: name), withIntermediateDirectories: true)
    }
}
