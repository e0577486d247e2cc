import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCore

/// Policies that lie in no folder.
@Suite struct PoliciesInMemoryTests {
    private static func policy(_ resource: String, _ value: Int, more: String = "") -> String {
        #"{ "resource": "\#(resource)", "origin": { "use": "constant", "value": \#(value) },"#
            + #" "strategy": "network-only"\#(more) }"#
    }

    private static func value(_ resource: String, of pantry: Pantry) async throws -> String {
        try await pantry.resource(resource).load().text
    }

    /// The problems of policies, a line each.
    private static func problems(_ policies: [String: String]) -> String {
        let error = #expect(throws: PolicyError.self) { try SimulatedPantry.run(policies) { _ in } }
        return error?.problems.map(\.description).joined(separator: "\n") ?? ""
    }

    @Test func policiesInMemoryAreComposedAndServe() throws {
        let cache = try TemporaryFolder()
        try SimulatedWorld().run { world in
            let pantry = try await Pantry(
                policies: ["feed": Self.policy("feed", 1), "images": Self.policy("images", 2)], cache: cache.url,
                environment: [:], world: world)
            #expect(pantry.resources == ["feed", "images"])
            #expect(try await Self.value("feed", of: pantry) == "1")
            #expect(try await Self.value("images", of: pantry) == "2")
            #expect(try await pantry.reload().isEmpty)
        }
    }

    @Test func mistakesAreReportedWithNameLineAndColumn() {
        let wrong = """
            { "resource": "images",
              "origin": { "use": "constant", "value": 1 }, "strategy": "cash-first" }
            """
        let problems = Self.problems(["images": wrong, "feed": "["])
        #expect(problems.hasPrefix("feed.json:1:2: error: "))
        #expect(problems.contains("\nimages.json:2:60: error: unknown strategy 'cash-first'"), "\(problems)")
        #expect(problems.hasSuffix("(did you mean 'cache-first'?) [at $.strategy]"), "\(problems)")
    }

    @Test func policiesExtendABaseThatIsInMemoryToo() throws {
        let feed = #"{ "extends": "_base.json", "resource": "feed", "about": "over" }"#
        let base = #"{ "origin": { "use": "constant", "value": 7 }, "strategy": "network-only", "about": "under" }"#
        try SimulatedPantry.run(["feed": feed, "_base": base]) { simulated in
            let pantry = simulated.pantry
            #expect(try await Self.value("feed", of: pantry) == "7")
            #expect(pantry.policy(of: "feed")?.about == "over" && pantry.resources == ["feed"])
            try await pantry.replace(policies: ["feed": feed, "_base": base.with("7", "8")])
            #expect(try await Self.value("feed", of: pantry) == "8")
        }
        let missing = Self.problems(["feed": feed])
        #expect(missing.hasPrefix("feed.json:1:14: error: '_base.json': cannot open the file"), "\(missing)")
    }

    @Test func settingsOfTheProcessTakeEffect() throws {
        let policies = ["feed": Self.policy("feed", 1), "_larder": #"{ "metrics": { "file": "m.json" } }"#]
        try SimulatedPantry.run(policies) { simulated in
            await simulated.pantry.close()
            let dump = try simulated.cache.text(of: "m.json")
            #expect(dump.contains("\"feed\""))
        }
        #expect(Self.problems(policies.merging(["_larder": "[]"]) { $1 }).hasPrefix("_larder.json:1:1: error: "))
    }

    @Test(arguments: ["", "a/b", ".hidden", "feed.schema", "_a/b"])
    func nameThatNoResourceCanHaveIsAnError(_ name: String) {
        let problems = Self.problems([name: Self.policy(name, 1), "feed": Self.policy("feed", 1)])
        #expect(problems.contains("error: '\(name)' is not a valid resource name; expected a name such as \"feed\""))
    }

    @Test func dictionaryWithoutAnyPolicyIsError() {
        let expected = "policies: error: there are none; expected the text of a policy under its resource's name"
        #expect(Self.problems([:]) == expected)
        #expect(Self.problems(["_base": "{}"]) == expected)
    }

    @Test func policyReadsGivenFilesAndMissingFileIsError() throws {
        let feed =
            #"{ "resource": "feed", "origin": { "use": "file", "path": "Seeds/a" }, "strategy": "network-only" }"#
        try SimulatedPantry.run(["feed": feed], files: ["Seeds/a": "seed"]) { simulated in
            let loaded = try await simulated.resource.load()
            #expect(loaded.text == "seed")
        }
        #expect(
            Self.problems(["feed": feed]) == """
                feed.json:1:58: error: there is no folder to read this file from; \
                expected a policy in a folder, or a pantry made with `files:` [at $.origin.path]
                """)
    }

    // MARK: Replacing

    @Test func policiesThatAreReplacedChangeComeAndGo() throws {
        let names = ["feed", "images", "same"]
        let policies = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.policy($0, 1)) })
        try SimulatedPantry.run(policies) { simulated in
            let pantry = simulated.pantry
            let changes = try await pantry.replace(
                policies: [
                    "feed": Self.policy("feed", 2), "prices": Self.policy("prices", 2), "same": Self.policy("same", 1),
                ])
            #expect(changes.map(\.resource).sorted() == ["feed", "images", "prices"])
            #expect(pantry.resources == ["feed", "prices", "same"])
            #expect(try await Self.value("feed", of: pantry) == "2")
            #expect(try await Self.value("prices", of: pantry) == "2")
            #expect(try await pantry.replace(policies: ["same": Self.policy("same", 1)]).count == 2)
        }
    }

    @Test func refusedPoliciesAreReportedAndChangeNothing() throws {
        try SimulatedPantry.run(["feed": Self.policy("feed", 1)]) { simulated in
            let pantry = simulated.pantry
            var events = pantry.events.makeAsyncIterator()
            let refused = ["feed": Self.policy("feed", 2), "images": "{"]
            await #expect(throws: PolicyError.self) { try await pantry.replace(policies: refused) }
            guard case .rejected(let error)? = await events.next() else {
                Issue.record("nothing was told")
                return
            }
            #expect(error.problems.map(\.file) == ["images.json"])
            var late = pantry.events.makeAsyncIterator()
            guard case .rejected(let told)? = await late.next() else {
                Issue.record("a late listener is told nothing")
                return
            }
            #expect(told.problems.map(\.file) == ["images.json"])
            await #expect(throws: PolicyError.self) { try await pantry.replace(policies: [:]) }
            await #expect(throws: PolicyError.self) { try await pantry.replace(policies: ["a/b": "{}"]) }
            let changes = try await pantry.reload()
            #expect(changes.isEmpty && pantry.resources == ["feed"])
            #expect(try await Self.value("feed", of: pantry) == "1")
        }
    }

    @Test func folderIsNotReadAfterItsPoliciesWereReplaced() throws {
        let (folder, cache) = (try Folder(), try TemporaryFolder())
        try folder.write(Self.policy("feed", 1, more: #", "about": "in a file""#), to: "feed.json")
        try SimulatedWorld().run { world in
            func open() async throws -> Pantry {
                try await Pantry(policies: folder.url, cache: cache.url, ifUnsound: .useLastSound, world: world)
            }
            let pantry = try await open()
            #expect(try await pantry.replace(policies: ["feed": Self.policy("feed", 2)]).count == 1)
            try folder.write(Self.policy("feed", 3), to: "feed.json")
            try folder.write(Self.policy("images", 3), to: "images.json")
            #expect(try await pantry.reload().isEmpty)
            #expect(try await Self.value("feed", of: pantry) == "2")
            // The set that is kept for the next start is still that of the folder.
            try folder.write("{", to: "feed.json")
            #expect(try await open().policy(of: "feed")?.about == "in a file")
        }
    }

    @Test func policiesWhoseNamesDifferOnlyInCaseAreToldOf() throws {
        let texts = Dictionary(uniqueKeysWithValues: ["Feed", "feed", "images"].map { ($0, Self.policy($0, 1)) })
        let reader = try PolicyReader(registry: .standard, texts: texts, files: nil, environment: [:])
        let problems = try reader.checkAll().flatMap(\.problems)
        #expect(problems.map(\.file) == ["feed.json"] && problems.allSatisfy { $0.severity == .warning })
    }

    @Test func watchOverPoliciesInMemoryDoesNothing() throws {
        try SimulatedPantry.run(["feed": Self.policy("feed", 1)]) { simulated in
            let watch = simulated.pantry.watch()
            #expect(simulated.world.unfinished == 1)
            try await simulated.pantry.replace(policies: ["feed": Self.policy("feed", 2)])
            watch.stop()
            #expect(try await simulated.resource.load().text == "2")
        }
    }
}
