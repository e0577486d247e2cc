import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct PolicyFolderTests {
    @Test func folderWithoutPoliciesIsError() throws {
        let folder = try Folder()
        let missing = folder.url.appending(path: "none")
        #expect(
            try error(missing)
                == "\(missing.path): error: the folder of policies cannot be read: cannot list the folder: No such file or directory"
        )
        #expect(
            try error(folder.url)
                == "\(folder.url.path): error: there are no policies in this folder; expected a file such as feed.json")
    }

    @Test func onlyResourceFilesAreRead() throws {
        let folder = try Folder()
        let names = ["_base.json", "_larder.json", "policy.schema.json", ".feed.json", "notes.txt", "feed.json~"]
        for name in names { try folder.write("not JSON", to: name) }
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "old.json"), withIntermediateDirectories: false)
        try folder.write(Policies.sound, to: "feed.json")
        #expect(try PolicyReader(registry: .standard, folder: folder.url.path).readAll().map(\.resource) == ["feed"])
    }

    @Test func unreadablePolicyIsError() throws {
        let folder = try Folder()
        try folder.write(Policies.sound, to: "feed.json")
        let images = folder.url.appending(path: "images.json")
        try FileManager.default.createSymbolicLink(
            at: images, withDestinationURL: folder.url.appending(path: "gone.json"))
        #expect(
            try error(folder.url) == "\(images.path): error: cannot open the file: No such file or directory")
    }

    @Test func revisionDoesNotDependOnLayout() throws {
        let revision = try revision(of: Policies.sound)
        let other = """
            {"store":"file","strategy":"cache-first",
             "origin":{"value":1.0,"use":"constant"},"resource":"\\u0066eed"}
            """
        #expect(try self.revision(of: other) == revision)
        #expect(revision.count == 12)
    }

    @Test(arguments: [
        ("\"value\": 1", "\"value\": 2"), ("\"value\": 1", "\"value\": \"1\""), ("\"value\": 1", "\"value\": [1]"),
        ("cache-first", "network-first"), ("\"store\": \"file\"", "\"store\": \"memory\""),
        ("\"strategy\"", "\"about\": \"x\", \"strategy\""),
    ])
    func otherContentHasAnotherRevision(old: String, new: String) throws {
        #expect(try revision(of: Policies.sound.with(old, new)) != revision(of: Policies.sound))
    }

    @Test func revisionDependsOnOrderOfList() throws {
        let one = Policies.sound.with("\"value\": 1", "\"value\": [1, 9007199254740993]")
        #expect(try revision(of: one) != revision(of: one.with("[1, 9007199254740993]", "[9007199254740993, 1]")))
        #expect(try revision(of: one) != revision(of: one.with("993", "992")))
    }

    // MARK: Swapping

    private static let full = """
        {
          "resource": "feed",
          "origin": { "use": "constant", "value": 1 },
          "around": ["retry"],
          "strategy": { "use": "cache-first", "patience": "1s", "background": "5s" },
          "store": { "use": "memory", "capacity": "1MB", "entries": 5, "eviction": "lru" }
        }
        """

    @Test func swappingStrategyNameGivesWarningsOnly() throws {
        func swapped(_ name: String) throws -> [String] {
            try Policies.warnings(feed: Self.full.with("cache-first", name))
        }
        for name in ["cache-first", "network-first", "stale-while-revalidate"] { #expect(try swapped(name) == []) }
        let dead = ["'patience' has no effect", "'background' has no effect"]
        let only = try swapped("cache-only")
        #expect(only.count == 4)
        #expect(zip(only.suffix(2), dead).allSatisfy { $0.contains("warning: the setting \($1)") })
        #expect(
            only.prefix(2) == [
                "feed.json:3:13: warning: 'origin' has no effect: strategy 'cache-only' does not use it [at $.origin]",
                "feed.json:4:13: warning: 'around' has no effect: strategy 'cache-only' does not use it [at $.around]",
            ])
        let network = try swapped("network-only")
        #expect(network.count == 3)
        #expect(
            network.last
                == "feed.json:6:12: warning: 'store' has no effect: strategy 'network-only' does not use it [at $.store]"
        )
    }

    @Test func swappingStoreNameGivesWarningsOnly() throws {
        #expect(
            try Policies.warnings(feed: Self.full.with("\"memory\"", "\"file\"")) == [
                """
                feed.json:6:12: warning: nothing limits the time of an operation of store 'file'; expected a 'limit' [at $.store]
                """,
                """
                feed.json:6:48: warning: the setting 'entries' has no effect: it belongs to store 'memory' [at $.store.entries]
                """,
            ])
        #expect(try Policies.warnings(feed: Self.full.with("\"memory\"", "\"none\"")).count == 4)
    }

    @Test func warningNamesPlaceAndRule() throws {
        let folder = try Folder()
        try folder.write(Self.full.with("cache-first", "network-only"), to: "feed.json")
        let warnings = try PolicyReader(registry: .standard, folder: folder.url.path).read("feed.json").warnings
        #expect(warnings.allSatisfy { $0.severity == .warning && $0.rule == "no-effect" && $0.position != nil })
    }

    private func revision(of text: String) throws -> String {
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        return try PolicyReader(registry: .standard, folder: folder.url.path).read("feed.json").revision
    }

    private func error(_ policies: URL) throws -> String? {
        let error = #expect(throws: PolicyError.self) {
            try SimulatedWorld().run { world in
                _ = try await Pantry(policies: policies, cache: policies, world: world)
            }
        }
        return error?.description
    }
}

extension PolicyReader {
    /// A reader that knows the standard plugins and no environment.
    init(registry: Registry, folder: String) {
        self.init(registry: registry, folder: folder, environment: [:])
    }

    /// Returns the policy in a file. Throws all its problems if it is invalid.
    func read(_ name: String) throws -> Policy {
        let verdict = check(name)
        guard let policy = verdict.policy else { throw PolicyError(verdict.problems) }
        return policy
    }
}
