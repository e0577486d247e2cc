import LarderFoundation
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
        try Self.run(Self.policy) { simulated in
            let (world, greetings) = (simulated.world, simulated.resource)
            let first = try await greetings.load(["name": "Ada"])
            #expect(String(decoding: first.value, as: UTF8.self) == "welcome, Ada! welcome, Ada!")
            #expect(first.source == .origin && first.isStored && world.uptime == .milliseconds(40))
            #expect(first.trail.lines.contains("dawdle: waits 40 ms, as 100% of all calls do"))

            try await world.sleep(for: .seconds(60))
            let second = try await greetings.load(["name": "Ada"])
            #expect(second.source == .store("drawer") && second.freshness == .stale)
            try await world.sleep(for: .seconds(1))
            #expect(greetings.metrics["origin_calls"] == 2 && greetings.metrics["refreshes"] == 1)

            _ = try await greetings.load(["name": "Ben"])
            #expect(try await greetings.load(["name": "Cem"]).isStored == false)
            #expect(try await greetings.statistics().entries == 2)
            let refused = await #expect(throws: LoadError.self) { try await greetings.load() }
            #expect(refused?.status == 404 && refused?.isAnswer == true)
        }
    }

    @Test func eventOfThirdPartyWrapperKeepsItsFactsInTrail() throws {
        try Self.run(Self.policy) { simulated in
            let greetings = simulated.resource
            let step = try #require(try await greetings.load(["name": "Ada"]).trail.steps.first)
            #expect(step.part == "dawdle" && step.event.kind == .dawdling && step.event[.share] == "100%")
            #expect(step.event[.wait] == .milliseconds(40))
            #expect("\(step)" == "dawdle: waits 40 ms, as 100% of all calls do")
            #expect(step.json == ["part": "dawdle", "event": "dawdling", "wait": .number(0.04), "share": "100%"])
        }
    }

    @Test func refusalOfThirdPartyValidatorIsReportedWithReason() throws {
        let policy = Self.policy.replacing("text/plain", with: "text/html")
        try Self.run(policy) { simulated in
            let greetings = simulated.resource
            let error = await #expect(throws: LoadError.self) { try await greetings.load(["name": "Ada"]) }
            #expect(error?.code == .refused && error?.message == "payload refused: of the wrong type")
        }
    }

    @Test func thirdPartyEvictionWorksInBuiltInStore() throws {
        let store = #"{ "use": "memory", "entries": 2, "eviction": "first-out" }"#
        let policy = Self.policy.replacing(Self.store, with: store)
        try Self.run(policy) { simulated in
            let greetings = simulated.resource
            for name in ["a", "b", "a", "c"] { _ = try await greetings.load(["name": name]) }
            #expect(try await greetings.contains(["name": "a"]) == false)
            #expect(try await greetings.contains(["name": "b"]))
        }
    }

    @Test func thirdPartyStoreWorksAsTierOfBuiltInStore() throws {
        let tiers = #"{ "use": "tiered", "tiers": ["memory", { "use": "drawer", "limit": "1s" }] }"#
        let policy = Self.policy.replacing(Self.store, with: tiers)
        try Self.run(policy) { simulated in
            let greetings = simulated.resource
            _ = try await greetings.load(["name": "Ada"])
            #expect(try await greetings.load(["name": "Ada"]).source == .store("memory"))
        }
    }

    @Test func thirdPartyEvictionKeepsEveryPromise() {
        #expect(EvictionConformance(.firstOut).brokenPromises() == [])
    }

    @Test func twoPluginsOfOneKindAndNameAreError() throws {
        var registry = try Registry(Self.plugins)
        let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(.drawer) }
        #expect(
            conflict?.description
                == "there are two plugins of the kind store called 'drawer'; use replacing(_:) to replace one")
        #expect(throws: Registry.Conflict.self) { try Registry([.greeting, .greeting]) }
        // Two kinds may use the same name, and a plugin may be replaced on purpose.
        try registry.register(.origin("drawer") { _ in Data() })
        #expect(try registry.replacing(.drawer)[.store].count == 1)
    }

    @Test func settingDeclaredTwiceOrNamedUseIsError() throws {
        let twice = Plugin.validator(
            "twice", "Has a setting twice.", Setting("a", .flag, help: "One"), Setting("a", .text, help: "Other")
        ) { _, _, _ in MediaType(allowed: []) }
        let use = Plugin.validator("use", "Has a setting called use.", Setting("use", .flag, help: "No")) { _, _ in
            MediaType(allowed: [])
        }
        var registry = Registry()
        let first = #expect(throws: Registry.Conflict.self) { try registry.register(twice) }
        #expect(first?.description == "validator 'twice' cannot have a second or reserved setting called 'a'")
        let second = #expect(throws: Registry.Conflict.self) { try registry.register(use) }
        #expect(second?.description == "validator 'use' cannot have a second or reserved setting called 'use'")
    }

    /// A text of the policy, its replacement, and the expected message.
    @Test(arguments: [
        (
            #""use": "greeting""#, #""use": "greetings""#,
            """
            3:22: error: unknown origin 'greetings'; expected one of \(Registry.standard[.origin].map { "'\($0.name)'" }.joined(separator: ", ")), 'scripted', 'greeting' \
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
            3:62: error: a string is not allowed here; expected a whole number from 1 to 3 [at $.origin.times]
            """
        ),
        (
            #""times": 2"#, #""times": 4"#,
            "3:62: error: 4 is out of range; expected a whole number from 1 to 3 [at $.origin.times]"
        ),
        (
            #""word": "welcome""#, #""word": "welcom""#,
            """
            3:42: error: this is not one of the choices; expected one of "hello", "welcome" \
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
            "7:54: error: the number 7 is not allowed here; expected text [at $.validators[0].allowed[1]]"
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
    func mistakeIsReportedWithPlaceAndPath(right: String, wrong: String, message: String) throws {
        let error = #expect(throws: PolicyError.self) {
            try Self.run(Self.policy.replacing(right, with: wrong)) { _ in }
        }
        #expect(error?.description == "greetings.json:\(message)")
    }

    @Test func clearingDeletesStoreFolderThatNoPolicyNames() throws {
        let shed = Plugin.store("shed", "Keeps files.") { context in
            let place = try context.place("tools")
            try Data("alice's".utf8).write(to: URL(filePath: place.path).appending(path: "saw"))
            return Shed(place: place)
        }
        @Sendable func policy(_ store: String) -> [String: String] {
            [
                "feed":
                    #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first", "store": "\#(store)" }"#
            ]
        }
        try SimulatedPantry.run(policy("shed"), plugins: [shed]) { simulated in
            let (pantry, folder) = (simulated.pantry, simulated.cache.url.appending(path: "feed"))
            let file = folder.appending(path: "tools/saw").path
            #expect(FileManager.default.fileExists(atPath: file))
            // While the folder is in use, it is cleared through its store, which does nothing.
            try await pantry.clear(.scope("alice"))
            #expect(FileManager.default.fileExists(atPath: file))
            try await pantry.replace(policies: policy("memory"))
            try await pantry.clear(.scope("bob"))
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }

    /// Runs a test of a policy that may name all the plugins.
    static func run(_ policy: String, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void) throws {
        try SimulatedPantry.run(["greetings": policy], plugins: plugins, test)
    }
}

/// A store that holds its place and keeps no entries.
struct Shed: Store {
    let place: StorePlace

    func read(_ reading: Reading) -> Found? { nil }
    func write(_ entry: Entry, for key: Key) -> Bool { false }
    func remove(_ selection: Selection) {}
    func statistics() -> StoreStatistics { StoreStatistics() }
}

extension String {
    /// Returns the text with the only occurrence of `old` replaced.
    func replacing(_ old: String, with new: String) -> String {
        let parts = split(separator: old, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "'\(old)' stands there \(parts.count - 1) times")
        return parts.joined(separator: new)
    }
}
