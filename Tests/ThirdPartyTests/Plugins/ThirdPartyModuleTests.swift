import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Additions of a module besides sections of policies: sections of the pantry, and kinds of plugins.
@Suite struct ThirdPartyModuleTests {
    private static func metered(_ resource: String) -> String {
        #"{ "resource": "\#(resource)", "origin": "scripted", "around": ["metered"], "strategy": "network-only" }"#
    }

    private static func policies(most: Int?) -> [String: String] {
        var policies = ["feed": metered("feed"), "other": metered("other")]
        policies["_larder"] = most.map { #"{ "quota": { "most": \#($0) } }"# }
        return policies
    }

    // MARK: Sections of the pantry

    @Test func sectionOfThePantryIsSharedByItsResources() throws {
        try SimulatedPantry.run(Self.policies(most: 2), plugins: [.quota(), .metered]) { simulated in
            let pantry = simulated.pantry
            #expect(pantry.attachment(Quota.self) != nil && pantry.attachment(Greeter.self) == nil)
            _ = try await pantry.resource("feed").load()
            _ = try await pantry.resource("other").load()
            let error = await #expect(throws: LoadError.self) { try await pantry.resource("feed").load() }
            #expect(error?.message == "the quota of 2 is used up")
        }
    }

    @Test func sectionOfThePantryIsToldOfClearingsOfThePantryAndOfItsEnd() throws {
        let journal = Journal()
        try SimulatedPantry.run(Self.policies(most: 2), plugins: [.quota(journal), .metered]) { simulated in
            try await simulated.pantry.resource("feed").clear()
            #expect(journal.events == [])
            try await simulated.pantry.clear(.scope(nil))
        }
        #expect(journal.events == ["quota 2 cleared \(Selection.scope(nil))", "closed quota 2"])
    }

    @Test func reloadThatLeavesItAloneKeepsItsUse() throws {
        try SimulatedPantry.run(Self.policies(most: 1), plugins: [.quota(), .metered]) { simulated in
            _ = try await simulated.pantry.resource("feed").load()
            var policies = Self.policies(most: 1)
            policies["feed"] = policies["feed"]?.replacing("network-only", with: "race")
            _ = try await simulated.pantry.replace(policies: policies)
            await #expect(throws: LoadError.self) { try await simulated.pantry.resource("feed").load() }
        }
    }

    @Test func changedSectionOfThePantryReachesPartsThatWereMadeBefore() throws {
        let journal = Journal()
        try SimulatedPantry.run(Self.policies(most: 0), plugins: [.quota(journal), .metered]) { simulated in
            let feed = simulated.pantry.resource("feed")
            await #expect(throws: LoadError.self) { try await feed.load() }
            for most in [1, 2] {
                // No policy changes, so all graphs stay.
                #expect(try await simulated.pantry.replace(policies: Self.policies(most: most)).isEmpty)
                for _ in 0..<most { _ = try await feed.load() }
                await #expect(throws: LoadError.self) { try await feed.load() }
            }
            #expect(journal.events == ["closed quota 0", "closed quota 1"])
            _ = try await simulated.pantry.replace(policies: Self.policies(most: nil))
            try await simulated.world.sleep(for: .zero)
            _ = try await feed.load()
            #expect(simulated.pantry.attachment(Quota.self) == nil && journal.events.last == "closed quota 2")
        }
    }

    @Test(arguments: [
        (
            #"{ "quota": {} }"#,
            "pantry-section 'quota' needs the setting 'most'; expected a whole number from 0 to 1000"
        ),
        (
            #"{ "quotas": {} }"#,
            "unknown key 'quotas' of the process's settings; expected one of '$schema', 'metrics', 'log', 'otlp'"
        ),
        (
            #"{ "quota": { "most": -1 } }"#,
            "-1 is out of range; expected a whole number from 0 to 1000 [at $.quota.most]"
        ),
    ])
    func mistakeInASectionOfThePantryIsReported(_ text: String, message: String) throws {
        var policies = Self.policies(most: nil)
        policies["_larder"] = text
        let error = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(policies, plugins: [.quota(), .metered]) { _ in }
        }
        #expect(error?.description.contains("error: " + message) == true, "\(error?.description ?? "")")
    }

    // MARK: Kinds of plugins

    private static func signed(_ notary: String) -> String {
        #"{ "resource": "feed", "origin": { "use": "signed", "sign": \#(notary) }, "strategy": "network-only" }"#
    }

    @Test func pluginOfAModulesKindIsMadeByAnOtherPlugin() throws {
        let policy = Self.signed(#"{ "use": "stamp", "mark": "!" }"#)
        try SimulatedPantry.run(["feed": policy], plugins: [.stamp, .signed]) { simulated in
            #expect(try await String(decoding: simulated.resource.load().value, as: UTF8.self) == "call!")
            let plan = Plan(try #require(simulated.pantry.policy(of: "feed"))).description
            #expect(plan.contains("└─ stamp  (mark !)"))
        }
    }

    @Test func kindOfAModuleIsInTheSchemaOnceItsPluginsAreRegistered() throws {
        var registry = Registry.standard
        let before = registry.schema.text(indented: false)
        try registry.register(.signed)
        #expect(registry[.notary].isEmpty)
        try registry.register(.stamp)
        let schema = registry.schema.text(indented: false)
        #expect(schema.contains(##""sign":{"description":"Who signs the calls","$ref":"#/$defs/notary"}"##))
        #expect(schema.contains(##""notary":{"anyOf":[{"enum":["stamp"]},{"description":"Signs calls with a mark.""##))
        #expect(!before.contains("notary"))
    }

    @Test(arguments: [
        (#""stamps""#, "unknown notary 'stamps'; expected one of 'stamp', 'fake' (did you mean 'stamp'?)"),
        (#""memory""#, "unknown notary 'memory'; it is the name of a store; expected one of 'stamp', 'fake'"),
        (#"{ "use": "stamp", "mark": 1 }"#, "the number 1 is not allowed here; expected text"),
        (#""fake""#, "cannot be composed: notary 'fake' makes String and not Notary"),
    ])
    func mistakeWithAPluginOfAModulesKindIsReported(_ notary: String, message: String) throws {
        let error = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(["feed": Self.signed(notary)], plugins: [.stamp, .fake, .signed]) { _ in }
        }
        #expect(error?.description.contains("error: " + message) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        ("store", "notary", "store 'x': a custom plugin cannot be of the kind store"),
        ("Notary", "", "Notary 'x': its kind 'Notary' is not made of lowercase words joined by hyphens"),
        ("plain", "", "plain 'x': its kind cannot be called 'plain'"),
    ])
    func kindThatCannotHaveItsNameIsRefused(_ kind: String, _: String, message: String) {
        let plugin = Plugin.custom(PluginKind(kind), "x", "A plugin.") { _ in 1 }
        let error = #expect(throws: Registry.Conflict.self) { try Registry([plugin]) }
        #expect(error?.description == message)
    }

    // MARK: Modules

    @Test func sectionOfAModuleIsKnownOnceItIsRegistered() throws {
        let outbox = Plugin.section("outbox", "Keeps letters.") { _ in Doorman(name: "outbox", journal: Journal()) }
        #expect(throws: PolicyError.self, "its loader is not declared") {
            try SimulatedPantry.run(
                ["feed": ThirdPartySectionTests.policy(#", "outbox": {}"#)], plugins: [outbox]
            ) { _ in }
        }
        try SimulatedPantry.run(
            ["feed": ThirdPartySectionTests.policy(#", "outbox": {}"#)], plugins: [.doorman("outbox")]
        ) { simulated in #expect(simulated.pantry.attachment(Doorman.self, of: "feed")?.name == "outbox") }
    }
}
