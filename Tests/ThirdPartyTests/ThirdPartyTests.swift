import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@Suite struct ThirdPartyTests {
    static let plugins: [Plugin] = [.greeting, .dawdle, .copyIfAny, .mediaType, .drawer, .firstOut]

    static let store = #"{ "use": "drawer", "room": 2, "largest": "1KB" }"#

    static let policy = """
        {
          "resource": "greetings",
          "origin": { "use": "greeting", "word": "welcome", "times": 2 },
          "around": [{ "use": "dawdle", "share": "100%", "wait": "40ms" }],
          "strategy": { "use": "copy-if-any", "patience": "2s" },
          "validators": [
            { "use": "media-type", "allowed": ["text/plain"] },
            { "use": "age", "fresh": "1m", "whileRevalidating": "1h" }
          ],
          "store": { "use": "drawer", "room": 2, "largest": "1KB" }
        }
        """

    @Test func oneOfEachKindIsComposedByAPolicyAndServes() throws {
        try SimulatedWorld().run { world in
            let greetings = try await Self.pantry(Self.policy, world).resource("greetings")
            let first = try await greetings.load(["name": "Ada"])
            #expect(String(decoding: first.value, as: UTF8.self) == "welcome, Ada! welcome, Ada!")
            #expect(first.source == .origin && first.isStored && world.uptime == .milliseconds(40))
            #expect(first.trail.lines.contains("dawdle: waits 40 ms"))

            try await world.sleep(for: .seconds(60))
            let second = try await greetings.load(["name": "Ada"])
            #expect(second.source == .store("drawer") && second.freshness == .stale)
            try await world.sleep(for: .seconds(1))
            #expect(greetings.metrics.originCalls == 2 && greetings.metrics.refreshes == 1)

            _ = try await greetings.load(["name": "Ben"])
            #expect(try await greetings.load(["name": "Cem"]).isStored == false)
            #expect(try await greetings.statistics().entries == 2)
            let refused = await #expect(throws: LoadError.self) { try await greetings.load() }
            #expect(refused?.status == 404 && refused?.isAnswer == true)
        }
    }

    @Test func aThirdPartysValidatorRefusesAndItsReasonIsTold() throws {
        try SimulatedWorld().run { world in
            let policy = Self.policy.replacing("text/plain", with: "text/html")
            let greetings = try await Self.pantry(policy, world).resource("greetings")
            let error = await #expect(throws: LoadError.self) { try await greetings.load(["name": "Ada"]) }
            #expect(error?.code == .refused && error?.message == "payload refused: of the wrong type")
        }
    }

    @Test func aThirdPartysEvictionWorksInABuiltInStore() throws {
        try SimulatedWorld().run { world in
            let store = #"{ "use": "memory", "entries": 2, "eviction": "first-out" }"#
            let policy = Self.policy.replacing(Self.store, with: store)
            let greetings = try await Self.pantry(policy, world).resource("greetings")
            for name in ["a", "b", "a", "c"] { _ = try await greetings.load(["name": name]) }
            #expect(try await greetings.contains(["name": "a"]) == false)
            #expect(try await greetings.contains(["name": "b"]))
        }
    }

    @Test func aBuiltInStoreTakesAThirdPartysAsATier() throws {
        try SimulatedWorld().run { world in
            let tiers = #"{ "use": "tiered", "tiers": ["memory", { "use": "drawer", "limit": "1s" }] }"#
            let policy = Self.policy.replacing(Self.store, with: tiers)
            let greetings = try await Self.pantry(policy, world).resource("greetings")
            _ = try await greetings.load(["name": "Ada"])
            #expect(try await greetings.load(["name": "Ada"]).source == .store("memory"))
        }
    }

    @Test func aThirdPartysEvictionKeepsItsPromises() {
        #expect(EvictionConformance(.firstOut).brokenPromises() == [])
    }

    @Test func twoPluginsOfOneKindAndNameAreAnError() throws {
        var registry = try Registry(Self.plugins)
        let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(.drawer) }
        #expect(
            conflict?.description
                == "there are two plugins of the kind store called 'drawer'; use replacing(_:) to replace one")
        #expect(throws: Registry.Conflict.self) { try Registry([.greeting, .greeting]) }
        // One name may serve two kinds, and a plugin may be replaced on purpose.
        try registry.register(.origin("drawer") { _ in Data() })
        #expect(try registry.replacing(.drawer)[.store].count == 1)
    }

    @Test func aSettingDeclaredTwiceOrCalledUseIsAnError() throws {
        let twice = Plugin.validator(
            "twice", "Has a setting twice.", Setting("a", .flag, help: "One"), Setting("a", .text, help: "Other")
        ) { _, _, _ in MediaType(allowed: []) }
        let use = Plugin.validator("use", "Has a setting called use.", Setting("use", .flag, help: "No")) { _, _ in
            MediaType(allowed: [])
        }
        var registry = Registry()
        let first = #expect(throws: Registry.Conflict.self) { try registry.register(twice) }
        #expect(first?.description == "validator 'twice' cannot have (another) setting called 'a'")
        let second = #expect(throws: Registry.Conflict.self) { try registry.register(use) }
        #expect(second?.description == "validator 'use' cannot have (another) setting called 'use'")
    }

    /// What stands in the policy, what stands there instead, and what is then said about it.
    @Test(arguments: [
        (
            #""use": "greeting""#, #""use": "greetings""#,
            """
            3:22: error: unknown origin 'greetings'; expected one of \(Registry.standard[.origin].map { "'\($0.name)'" }.joined(separator: ", ")), 'greeting' \
            (did you mean 'greeting'?) [at $.origin.use]
            """
        ),
        (
            #", "times": 2"#, "",
            """
            3:13: error: origin 'greeting' needs the setting 'times'; expected a whole number from 1 to 3 [at $.origin]
            """
        ),
        (
            #""times": 2"#, #""times": "2""#,
            """
            3:62: error: a string cannot stand here; expected a whole number from 1 to 3 [at $.origin.times]
            """
        ),
        (
            #""times": 2"#, #""times": 4"#,
            "3:62: error: 4 is out of range; expected a whole number from 1 to 3 [at $.origin.times]"
        ),
        (
            #""word": "welcome""#, #""word": "welcom""#,
            """
            3:42: error: this is none of the choices; expected one of "hello", "welcome" \
            (did you mean 'welcome'?) [at $.origin.word]
            """
        ),
        (
            #""100%""#, #""101%""#,
            """
            4:42: error: this share is out of range; expected a share such as 0.1 or "10%", from 0 to 1 \
            [at $.around[0].share]
            """
        ),
        (
            #""wait": "40ms""#, #""wait": "2m""#,
            "4:58: error: 2m is out of range; expected a duration from 1ms to 1m [at $.around[0].wait]"
        ),
        (
            #"["text/plain"]"#, "[]",
            "7:39: error: the list is too short; expected at least 1 item [at $.validators[0].allowed]"
        ),
        (
            #"["text/plain"]"#, #"["text/plain", 7]"#,
            "7:54: error: the number 7 cannot stand here; expected text [at $.validators[0].allowed[1]]"
        ),
        (
            #""largest": "1KB""#, #""largest": 1000"#,
            """
            10:53: error: the number 1000 has no unit; expected "1000KB" or "1000MB" [at $.store.largest]
            """
        ),
        (
            #""room": 2"#, #""rooms": 2"#,
            """
            10:31: error: unknown setting 'rooms' for store 'drawer'; expected one of 'limit', 'room', 'largest' \
            (did you mean 'room'?) [at $.store.rooms]
            """
        ),
    ])
    func aMistakeIsReportedWithItsPlaceAndPath(right: String, wrong: String, message: String) throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            let error = await #expect(throws: PolicyError.self) {
                _ = try await Self.pantry(Self.policy.replacing(right, with: wrong), world, in: folder)
            }
            #expect(error?.description == "\(folder.url.path)/greetings.json:\(message)")
        }
    }

    @Test func folderOfAStoreIsDeletedWhenAClearingConcernsItAndNoPolicyNamesIt() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            let shed = Plugin.store("shed", "Keeps files.") { context in
                let place = try context.place("tools")
                try Data("alice's".utf8).write(to: URL(filePath: place.path).appending(path: "saw"))
                return Shed(place: place)
            }
            var registry = Registry.standard
            try registry.register(shed)
            func write(_ store: String) throws {
                try folder.write(
                    #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first", "store": "\#(store)" }"#,
                    to: "feed.json")
            }
            try write("shed")
            let cache = folder.url.appending(path: "cache")
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: cache, world: world)
            let file = cache.appending(path: "feed/tools/saw").path
            #expect(FileManager.default.fileExists(atPath: file))
            // In use it is cleared through its store, which does nothing.
            try await pantry.clear(scope: "alice")
            #expect(FileManager.default.fileExists(atPath: file))
            try write("memory")
            try await pantry.reload()
            try await pantry.clear(scope: "bob")
            #expect(!FileManager.default.fileExists(atPath: cache.appending(path: "feed").path))
        }
    }

    static func pantry(_ policy: String, _ world: SimulatedWorld, in folder: Folder? = nil) async throws -> Pantry {
        let folder = try folder ?? Folder()
        try folder.write(policy, to: "greetings.json")
        var registry = Registry.standard
        for plugin in Self.plugins { try registry.register(plugin) }
        return try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
    }
}

/// A store that keeps its place and nothing else.
struct Shed: Store {
    let place: StorePlace

    func read(_ key: Key) -> Found? { nil }
    func write(_ entry: Entry, for key: Key) -> Bool { false }
    func remove(_ selection: Selection) {}
    func statistics() -> StoreStatistics { StoreStatistics() }
}

/// A folder of its own that goes when nobody needs it any more.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "larder-third-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }
}

extension String {
    /// The same text with the only occurrence of `old` replaced.
    func replacing(_ old: String, with new: String) -> String {
        let parts = split(separator: old, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "'\(old)' stands there \(parts.count - 1) times")
        return parts.joined(separator: new)
    }
}
