import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A section of a third party's module, from its declaration to its end.
@Suite struct ThirdPartySectionTests {
    static func policy(_ sections: String, strategy: String = "network-only", _ resource: String = "feed") -> String {
        #"{ "resource": "\#(resource)", "origin": "scripted", "strategy": "\#(strategy)", "store": "memory"\#(sections) }"#
    }

    private static func run(
        _ sections: String, _ journal: Journal = Journal(),
        _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let plugins = [Plugin.greetingSection(journal), .doorman("doorman", journal), .doorman("porter", journal)]
        try SimulatedPantry.run(["feed": policy(sections), "other": policy("", "other")], plugins: plugins, test)
    }

    // MARK: What an app gets

    @Test func appGetsAttachmentByItsType() throws {
        try Self.run(#", "greeting": { "text": "welcome" }"#) { simulated in
            let greeter = try #require(simulated.pantry.attachment(Greeter.self, of: "feed"))
            #expect(greeter.greet("Ada") == "welcome, Ada!")
            #expect(simulated.pantry.attachment((any Polite).self, of: "feed") as? Greeter === greeter)
            #expect(simulated.pantry.attachment(Doorman.self, of: "feed") == nil)
            #expect(simulated.pantry.attachment(Greeter.self, of: "other") == nil)
            #expect(simulated.pantry.attachment(Greeter.self, of: "unknown") == nil)
            #expect(simulated.pantry.attachment(Greeter.self) == nil)
        }
    }

    @Test func countersAndLevelsOfASectionAreInTheDump() throws {
        try Self.run(#", "greeting": {}"#) { simulated in
            let before = try #require(await simulated.pantry.metrics.dump().resources.first)
            #expect(before.total.counters.contains(.greetings) && before.total[.greetings] == 0)
            #expect(before.levels == [.humour: "kind"])
            _ = simulated.pantry.attachment(Greeter.self, of: "feed")?.greet("Ada")
            let text = await simulated.pantry.metrics.dump().openMetrics
            #expect(text.contains("# HELP larder_greetings People who were greeted\n"))
            #expect(simulated.resource.metrics[.greetings] == 1)
        }
    }

    @Test func keptAttachmentCountsForTheRevisionInEffect() throws {
        try Self.run(#", "greeting": { "text": "what" }"#) { simulated in
            _ = try await simulated.pantry.replace(policies: [
                "feed": Self.policy(#", "greeting": { "text": "what" }"#, strategy: "cache-first")
            ])
            _ = simulated.pantry.attachment(Greeter.self, of: "feed")?.greet("Ada")
            let feed = try #require(await simulated.pantry.metrics.dump().resources.first)
            #expect(feed.revisions.last?.strategy == "cache-first")
            #expect(feed.revisions.map { $0.metrics[.greetings] }.last == 1)
            #expect(feed.levels == [.humour: "gruff"])
        }
    }

    // MARK: What its declaration gives

    @Test func explainShowsSectionsWhereTheyStand() throws {
        try Self.run(#", "porter": { "polite": false }, "doorman": {}, "greeting": { "text": "welcome" }"#) {
            simulated in
            let policy = try #require(simulated.pantry.policy(of: "feed"))
            let lines = Plan(policy).description.split(separator: "\n").dropFirst()
            #expect(
                Array(lines) == [
                    "├─ measured",
                    "│  └─ section: doorman",
                    "│     └─ section: porter  (polite false)",
                    "│        └─ network-only",
                    "│           └─ live: shared  (one flight for each key)",
                    "│              └─ decoding",
                    "│                 └─ measured  (each call)",
                    "│                    └─ scripted",
                    "├─ store: memory  (not used by the strategy; clearings reach it)",
                    "│  └─ adaptive  (default)",
                    "└─ section: greeting  (text welcome)",
                ])
        }
    }

    /// The sections that come with Larder, as messages list them.
    private static let standardSections = Registry.standard[.section].map { "'\($0.name)', " }.joined()

    @Test func schemaHasSectionAsAKeyOfPolicies() throws {
        var registry = Registry.standard
        try registry.register(.greetingSection())
        let schema = registry.schema.text(indented: false)
        #expect(
            schema.contains(
                ##"},"greeting":{"description":"Greets people.","type":"object","##
                    + ##""properties":{"text":{"description":"What it says","$comment":"default: \"hello\"","##))
        #expect(!schema.contains(#""section":"#))
        #expect(Registry.standard.schema.text() == Registry.standard.schema.text())
    }

    @Test(arguments: [
        (
            #""greting": {}"#,
            "unknown key 'greting'; expected one of '$schema', 'extends', 'resource', 'about', 'log', 'origin', 'around', "
                + "'strategy', 'validators', 'store', 'fallbacks', \(standardSections)'greeting' (did you mean 'greeting'?) "
                + "[at $.greting]"
        ),
        (
            #""greeting": true"#,
            "true is not allowed here; expected an object with the settings of section 'greeting', or {} [at $.greeting]"
        ),
        (
            #""greeting": { "texts": "x" }"#,
            "unknown setting 'texts' for section 'greeting'; expected one of 'text', 'times' (did you mean 'text'?) "
                + "[at $.greeting.texts]"
        ),
        (
            #""greeting": { "use": "greeting" }"#,
            "unknown setting 'use' for section 'greeting'; expected one of 'text', 'times' [at $.greeting.use]"
        ),
        (
            #""greeting": { "times": 4 }"#,
            "4 is out of range; expected a whole number from 1 to 3 [at $.greeting.times]"
        ),
    ])
    func mistakeInASectionIsReportedWithItsPosition(_ member: String, message: String) async throws {
        let text = Self.policy(", " + member).replacing("scripted", with: #"constant", "log": "all"#)
            .replacing(#""constant", "#, with: #"{ "use": "constant", "value": 1 }, "#)
        let error = await #expect(throws: PolicyError.self) {
            var registry = Registry.standard
            try registry.register(.greetingSection())
            _ = try await Pantry(policies: ["feed": text], registry: registry)
        }
        #expect(error?.problems.count == 1)
        #expect(error?.description.hasSuffix("error: " + message) == true, "\(error?.description ?? "")")
    }

    @Test func sectionsAreMergedWithThoseOfTheExtendedFile() throws {
        let base = #"{ "greeting": { "text": "base", "times": 2 } }"#
        func extending(_ sections: String) -> String { Self.policy(#", "extends": "_base.json""# + sections) }
        let policies = [
            "_base": base, "same": extending("").replacing("feed", with: "same"),
            "merged": extending(#", "greeting": { "text": "own" }"#).replacing("feed", with: "merged"),
            "none": extending(#", "greeting": null"#).replacing("feed", with: "none"),
        ]
        try SimulatedPantry.run(policies, plugins: [.greetingSection()]) { simulated in
            let policies = try ["same", "merged"].map { try #require(simulated.pantry.policy(of: $0)).description }
            #expect(policies[0].contains(#""greeting":{"text":"base","times":2}"#), "\(policies[0])")
            #expect(policies[1].contains(#""greeting":{"text":"own","times":2}"#), "\(policies[1])")
            #expect(simulated.pantry.attachment(Greeter.self, of: "none") == nil)
        }
    }

    @Test func nameThatMeansSomethingElseIsRefused() {
        for name in ["origin", "store", "$schema", "log", "fallbacks"] {
            let section = Plugin.section(name, "A section.") { _ in Doorman(name: name, journal: Journal()) }
            let error = #expect(throws: Registry.Conflict.self) { try Registry([section]) }
            #expect(error?.description == "section '\(name)': the key '\(name)' has another meaning")
        }
        let metrics = Plugin.pantrySection("metrics", "A section.") { _ in Quota(most: 1, Journal()) }
        #expect(throws: Registry.Conflict.self) { try Registry([metrics]) }
        #expect(throws: Never.self) {
            try Registry([.section("metrics", "A section.") { _ in Doorman(name: "", journal: Journal()) }])
        }
    }

    // MARK: Around loads

    @Test func sectionsGoAroundLoadsInTheOrderOfRegistration() throws {
        let journal = Journal()
        let sections = #", "porter": {}, "doorman": {}"#
        let plugins = [Plugin.doorman("doorman", journal), .doorman("porter", journal)]
        let policy = Self.policy(sections, strategy: "cache-first")
            .replacing(#""store""#, with: #""validators": [{ "use": "age", "fresh": "1h" }], "store""#)
        try SimulatedPantry.run(["feed": policy], plugins: plugins) { simulated in
            _ = try await simulated.resource.load()
            #expect(journal.events == ["doorman in", "porter in", "porter out", "doorman out"])
            #expect(simulated.resource.answer(simulated.resource.request()) == nil)
            _ = try await simulated.resource.load()
            #expect(journal.events.count == 8)
            let metrics = simulated.resource.metrics
            #expect(metrics.loads == 2 && metrics["origin_calls"] == 1)
        }
    }

    @Test func loaderOfASectionThatDoesNotDeclareItIsRefused() throws {
        let error = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(
                ["feed": Self.policy(#", "doorman": {}"#)], plugins: [.doorman("doorman", goesAround: false)]
            ) { _ in }
        }
        #expect(
            error?.description
                == "feed.json: error: cannot be composed: section 'doorman' returns another loader from "
                + "around(_:), but its traits do not say that it goes around loads")
    }

    @Test func sectionLoadsItsOwnResourceUntilItIsClosed() throws {
        let policies = ["feed": Self.policy(#", "schedule": { "every": "15m" }"#), "other": Self.policy("", "other")]
        let origin = try SimulatedPantry.run(policies, plugins: [.schedule]) { simulated in
            try await simulated.world.sleep(for: .seconds(3_000))
            #expect(simulated.resource.metrics.loads == 3)
            #expect(simulated.pantry.resource("other").metrics.loads == 0)
            return simulated.origin
        }
        // The released pantry has closed it, or the run would have found its task.
        #expect(origin.calls.map(\.request.key.resource) == ["feed", "feed", "feed"])
    }

    // MARK: Clearing

    @Test func attachmentIsToldOfEveryClearingThatConcernsIt() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            let pantry = simulated.pantry
            try await pantry.resource("other").clear()
            #expect(journal.events == ["made hello"])
            try await pantry.resource("feed").clear(.tag("news"))
            try await pantry.resource("feed").clear(["id": "1"])
            try await pantry.clear(.scope("ada"))
            try await pantry.clear()
            let told = [
                Selection.tag("news"), .key(pantry.resource("feed").request(["id": "1"]).key), .scope("ada"), .all,
            ]
            #expect(journal.events.dropFirst() == told.map { "hello cleared \($0)" }[...])
            try await pantry.clear(.scope("ada"), discardingUnsent: true)
            try await pantry.resource("feed").clear(discardingUnsent: true)
            #expect(
                journal.events.suffix(2)
                    == [Selection.scope("ada"), .all].map {
                        "hello cleared \($0), also what is not sent"
                    })
        }
    }

    @Test func clearingGoesOnAfterTenSecondsAndNamesTheSection() throws {
        let journal = Journal()
        try Self.run(#", "greeting": { "text": "deaf" }"#, journal) { simulated in
            let start = simulated.world.uptime
            let error = await #expect(throws: LoadError.self) { try await simulated.pantry.clear(.scope("ada")) }
            #expect(error?.message == "section 'greeting' of feed did not finish clearing in time")
            #expect(simulated.world.uptime - start == .seconds(10))
            try await simulated.world.sleep(for: .seconds(3_600))
            #expect(journal.events.last == "deaf cleared \(Selection.scope("ada"))")
        }
    }

    // MARK: Life

    @Test func pantryClosesItsAttachmentsOnce() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            await simulated.pantry.close()
            #expect(journal.events == ["made hello", "closed hello"])
            await simulated.pantry.close()
            _ = try await simulated.resource.load()
        }
        #expect(journal.events == ["made hello", "closed hello"])
    }

    @Test func releasedPantryClosesItsAttachments() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { _ in }
        #expect(journal.events == ["made hello", "closed hello"])
    }

    @Test func attachmentIsKeptOverAReloadThatLeavesItAlone() throws {
        let journal = Journal()
        try Self.run(#", "greeting": { "text": "hello" }"#, journal) { simulated in
            let greeter = try #require(simulated.pantry.attachment(Greeter.self, of: "feed"))
            _ = try await simulated.pantry.replace(policies: [
                "feed": Self.policy(#", "greeting": { "text": "hello" }"#, strategy: "cache-first")
            ])
            #expect(simulated.pantry.attachment(Greeter.self, of: "feed") === greeter)
            #expect(journal.events == ["made hello"])
        }
    }

    @Test func changedAttachmentIsClosedAfterTheLastLoadOfTheOldPolicy() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            simulated.origin.play(.value("late", after: .seconds(60)))
            let load = simulated.world.spawn { _ = try? await simulated.resource.load() }
            try await simulated.world.sleep(for: .seconds(1))
            _ = try await simulated.pantry.replace(policies: ["feed": Self.policy(#", "greeting": { "text": "new" }"#)])
            #expect(simulated.pantry.attachment(Greeter.self, of: "feed")?.text == "new")
            try await simulated.world.sleep(for: .seconds(58))
            #expect(journal.events == ["made hello", "made new"])
            // A clearing reaches both.
            try await simulated.pantry.clear()
            #expect(journal.events.suffix(2) == ["hello cleared \(Selection.all)", "new cleared \(Selection.all)"])
            await load.value
            try await simulated.world.sleep(for: .zero)
            #expect(journal.events.last == "closed hello")
        }
        #expect(journal.events.suffix(2) == ["closed hello", "closed new"])
    }

    @Test func streamOfUpdatesDoesNotKeepAChangedAttachmentOpen() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            var updates = simulated.resource.updates().makeAsyncIterator()
            #expect(try await updates.next() != nil)
            _ = try await simulated.pantry.replace(policies: ["feed": Self.policy(#", "greeting": { "text": "new" }"#)])
            try await simulated.world.sleep(for: .zero)
            #expect(journal.events == ["made hello", "made new", "closed hello"])
        }
    }

    @Test func attachmentOfARemovedPolicyIsClosed() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            _ = try await simulated.pantry.replace(policies: ["other": Self.policy("", "other")])
            try await simulated.world.sleep(for: .zero)
            #expect(journal.events == ["made hello", "closed hello"])
            #expect(simulated.pantry.attachment(Greeter.self, of: "feed") == nil)
        }
    }

    @Test func attachmentOfARefusedReloadIsClosedAndTheOldOneStays() throws {
        let journal = Journal()
        try Self.run(#", "greeting": {}"#, journal) { simulated in
            await #expect(throws: PolicyError.self) {
                try await simulated.pantry.replace(policies: [
                    "feed": Self.policy(#", "greeting": { "text": "new" }"#),
                    "other": Self.policy(#", "broken": {}"#, "other"),
                ])
            }
            #expect(journal.events == ["made hello"], "unsound policies are not composed")
            await #expect(throws: PolicyError.self) {
                try await simulated.pantry.replace(policies: [
                    "feed": Self.policy(#", "greeting": { "text": "new" }"#),
                    "other":
                        #"{ "resource": "other", "origin": { "use": "file", "path": "x.json" }, "strategy": "race" }"#,
                ])
            }
            #expect(simulated.pantry.attachment(Greeter.self, of: "feed")?.text == "hello")
        }
    }

    // MARK: Loads

    @Test func sectionChangesLoadsAndForbidsPrefetchesOnItsNetwork() throws {
        let policies = ["feed": Self.policy(#", "aboard": {}"#, strategy: "cache-first")]
        try SimulatedPantry.run(policies, plugins: [.aboard]) { simulated in
            let feed = simulated.resource
            simulated.world.network = NetworkState(.online, kind: .other)
            let ship = try await feed.load(["id": "1"])
            #expect(ship.value == Data("value".utf8))
            let refused = await #expect(throws: LoadError.self) { try await feed.load(["id": "2"], purpose: .prefetch) }
            #expect(refused?.code == .unavailable)
            _ = try await feed.load(["id": "1"], mode: .refresh)
            #expect(simulated.origin.calls.count == 1)
            simulated.world.network = .online
            _ = try await feed.load(["id": "1"], mode: .refresh)
            #expect(simulated.origin.calls.count == 2)
            let ashore = try await feed.load(["id": "2"], purpose: .prefetch)
            #expect(ashore.value == Data("value".utf8))
        }
    }
}
