import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// A section of a third party's module that answers the loads of its resource.
@Suite struct ThirdPartyAnswersTests {
    static let policy = policy("")

    static func policy(_ members: String, origin: String = "scripted") -> String {
        #"{ "resource": "days", "origin": "\#(origin)", "almanac": { "year": 2026 }\#(members) }"#
    }

    private static func run(
        _ policy: String = policy, _ journal: Journal = Journal(), plugins: [Plugin] = [],
        _ test: @escaping @Sendable (SimulatedPantry, Almanac) async throws -> Void
    ) throws {
        try SimulatedPantry.run(["days": policy], plugins: [.almanac(journal)] + plugins) { simulated in
            try await test(simulated, try #require(simulated.pantry.attachment(Almanac.self, of: "days")))
        }
    }

    // MARK: Loads

    @Test func loadIsAnsweredByTheSectionAndCounted() throws {
        try Self.run { simulated, almanac in
            almanac.write("rain", on: "monday")
            almanac.write("\"snow\"", on: "yesterday")
            let loaded = try await simulated.resource.load(["day": "monday"])
            #expect(loaded.value == Data("rain".utf8) && loaded.source == .store("almanac"))
            #expect(loaded.freshness == .fresh && loaded.age == .seconds(60) && loaded.isStored)
            let text = try await simulated.pantry.resource("days", as: String.self).load(["day": "yesterday"])
            #expect(text.value == "snow" && text.freshness == .stale)
            let metrics = simulated.resource.metrics
            #expect(metrics.loads == 2 && metrics[.hitRate] == 1 && metrics[.staleRate] == 0.5)
            #expect(metrics["origin_calls"] == 0 && simulated.origin.calls.isEmpty)
            let days = try #require(await simulated.pantry.metrics.dump().resources.first)
            #expect(days.revisions.map(\.strategy) == ["almanac"])
        }
    }

    @Test func failureOfTheSectionIsAFailedLoad() throws {
        try Self.run { simulated, almanac in
            let error = await #expect(throws: LoadError.self) { try await simulated.resource.load(["day": "monday"]) }
            #expect(error?.code == .notCached)
            almanac.write("no JSON", on: "monday")
            let wrong = await #expect(throws: LoadError.self) {
                try await simulated.pantry.resource("days", as: [Int].self).load(["day": "monday"])
            }
            #expect(wrong?.code == .undecodable)
            #expect(simulated.resource.metrics.loads == 2 && simulated.resource.metrics["failures"] == 2)
        }
    }

    @Test func everyModeReachesTheSection() throws {
        let journal = Journal()
        try Self.run(Self.policy, journal) { simulated, almanac in
            simulated.origin.play(.value("sun"), .failure(.status(503)))
            let resource = simulated.resource
            let fresh = try await resource.load(["day": "monday"], mode: .refresh)
            #expect(fresh.value == Data("sun".utf8) && !fresh.fellBack)
            let stood = try await resource.load(["day": "monday"], scope: "ada", mode: .refresh)
            #expect(stood.value == Data("sun".utf8) && stood.fellBack)
            #expect(stood.trail.lines.first == "almanac: the origin answered 503")
            _ = try await resource.load(["day": "monday"], mode: .cachedOnly)
            #expect(resource.answer(resource.request(["day": "monday"])) == nil)
            #expect(
                journal.events == [
                    "refresh monday for nobody", "refresh monday for ada", "cachedOnly monday for nobody",
                ])
            let metrics = resource.metrics
            #expect(metrics.loads == 2 && metrics[.fallbackRate] == 0.5 && metrics["cached_only"] == 1)
            #expect(metrics["origin_calls"] == 2 && metrics["origin_errors"] == 1)
        }
    }

    @Test func streamOfUpdatesAsksTheSectionForACopyAndForNews() throws {
        let journal = Journal()
        try Self.run(Self.policy, journal) { simulated, almanac in
            almanac.write("rain", on: "monday")
            simulated.origin.play(.value("sun"))
            var updates = simulated.resource.updates(["day": "monday"]).makeAsyncIterator()
            var values: [String] = []
            func next() async throws {
                guard case .value(let loaded) = try await updates.next() else { return }
                values.append(String(decoding: loaded.value, as: UTF8.self))
            }
            try await next()
            try await next()
            // The section tells those who listen of a change.
            let own = try #require(almanac.context.ownResource)
            let saved = try await own.save(Data("fog".utf8), for: own.request(["day": "monday"]))
            #expect(!saved.isStored)
            try await next()
            #expect(values == ["rain", "sun", "fog"])
            #expect(journal.events == ["cachedOnly monday for nobody", "refresh monday for nobody"])
        }
    }

    @Test func screenShowsTheAnswerOfTheSection() throws {
        try Self.run { simulated, almanac in
            almanac.write("rain", on: "monday")
            let live = simulated.resource.live(["day": "monday"])
            try await simulated.world.sleep(for: .seconds(1))
            guard case .fresh(let value, isRefreshing: false) = live.phase else {
                Issue.record("not fresh")
                return
            }
            #expect(value == Data("rain".utf8))
        }
    }

    @Test func clearingReachesTheSectionAlone() throws {
        let journal = Journal()
        try Self.run(Self.policy, journal) { simulated, almanac in
            almanac.write("rain", on: "monday")
            try await simulated.pantry.clear(.scope("ada"))
            #expect(journal.events == ["cleared \(Selection.scope("ada"))"])
            #expect(try await !simulated.resource.contains(["day": "monday"]))
        }
    }

    @Test func otherSectionsGoAroundTheLoadsThatASectionAnswers() throws {
        let journal = Journal()
        try Self.run(Self.policy(#", "doorman": {}"#), journal, plugins: [.doorman("doorman", journal)]) {
            simulated, almanac in
            almanac.write("rain", on: "monday")
            _ = try await simulated.resource.load(["day": "monday"])
            #expect(journal.events == ["doorman in", "normal monday for nobody", "doorman out"])
        }
    }

    @Test func reloadReplacesAStrategyByASectionAndBack() throws {
        let journal = Journal()
        let other = #"{ "resource": "days", "origin": "scripted", "strategy": "cache-first", "store": "memory" }"#
        try SimulatedPantry.run(["days": other], plugins: [.almanac(journal)]) { simulated in
            _ = try await simulated.resource.load(["day": "monday"])
            _ = try await simulated.pantry.replace(policies: ["days": Self.policy])
            let error = await #expect(throws: LoadError.self) { try await simulated.resource.load(["day": "monday"]) }
            #expect(error?.code == .notCached)
            _ = try await simulated.pantry.replace(policies: ["days": other])
            #expect(try await simulated.resource.load(["day": "monday"]).source == .origin)
            #expect(journal.events == ["normal monday for nobody"] && simulated.resource.metrics.loads == 3)
        }
    }

    // MARK: Accounts and parameters

    @Test func requestIsInTheScopeOfTheAccountAndItsParametersAreTheSections() throws {
        let journal = Journal()
        try Self.run(Self.policy("", origin: "echo"), journal, plugins: [.echo { "ada" }]) { simulated, almanac in
            almanac.write("rain", on: "none")
            let loaded = try await simulated.resource.load(["month": "may"])
            #expect(loaded.value == Data("rain".utf8))
            #expect(journal.events == ["normal none for ada"])
        }
    }

    // MARK: The policy

    @Test func explainShowsWhoAnswersAndWhereItFetches() throws {
        let around = #", "around": [{ "use": "timeout", "after": "5s" }], "doorman": {}, "greeting": {}"#
        try Self.run(Self.policy(around), plugins: [.doorman("doorman"), .greetingSection()]) { simulated, _ in
            let policy = try #require(simulated.pantry.policy(of: "days"))
            #expect(
                Plan(policy).description.split(separator: "\n").dropFirst() == [
                    "├─ measured",
                    "│  └─ section: doorman",
                    "│     └─ section: almanac  (year 2026, answers loads)",
                    "│        └─ fetch: timeout  (after 5s)",
                    "│           └─ measured  (each call)",
                    "│              └─ scripted",
                    "└─ section: greeting",
                ])
        }
    }

    @Test(arguments: [
        (#""strategy": "network-first""#, "strategy"), (#""store": "memory""#, "store"),
        (#""validators": ["checksum"]"#, "validators"), (#""fallbacks": ["scripted"]"#, "fallbacks"),
        (#""calendar": {}"#, "calendar"),
    ])
    func keyThatHasNoPlaceBesideTheSectionIsAnError(_ member: String, name: String) throws {
        let error = #expect(throws: PolicyError.self) {
            try Self.run(Self.policy(", " + member), plugins: [.calendar { Almanac($0, Journal()) }]) { _, _ in }
        }
        #expect(
            error?.problems.map { $0.description.split(separator: "error: ").last.map(String.init) } == [
                "'almanac' answers loads, so '\(name)' has no place beside it; expected either of the two [at $.\(name)]"
            ])
    }

    @Test func policyWithoutStrategyAndSectionIsToldOfBoth() throws {
        let error = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(
                ["days": #"{ "resource": "days", "origin": "scripted" }"#], plugins: [.almanac()]
            ) { _ in }
        }
        let text = error?.description ?? ""
        #expect(error?.problems.count == 1 && text.contains("error: the policy has no strategy; expected "))
        #expect(text.hasSuffix(" or the section 'almanac'"), "\(text)")
    }

    @Test func mistakeInTheSectionIsTheOnlyError() throws {
        let error = #expect(throws: PolicyError.self) {
            try Self.run(Self.policy.replacing("2026", with: "\"x\"")) { _, _ in }
        }
        #expect(error?.problems.map(\.path) == ["$.almanac.year"])
    }

    @Test func traitsThatSayOtherwiseThanTheAttachmentAreRefused() throws {
        struct Plain: LarderCore.Attachment {}
        let claims = #expect(throws: PolicyError.self) {
            try Self.run(Self.policy, plugins: [.calendar("almanac") { _ in Plain() }]) { _, _ in }
        }
        #expect(
            claims?.description.hasSuffix(
                "section 'almanac' says in its traits that it answers loads, but its attachment is no AnsweringAttachment"
            )
                == true)
        let hides = #expect(throws: PolicyError.self) {
            try SimulatedPantry.run(
                [
                    "days":
                        #"{ "resource": "days", "origin": "scripted", "strategy": "network-only", "calendar": {} }"#
                ],
                plugins: [.calendar(answersLoads: false) { Almanac($0, Journal()) }]
            ) { _ in }
        }
        #expect(
            hides?.description.hasSuffix(
                "section 'calendar' makes an attachment that answers loads, but its traits do not say so") == true)
    }

    @Test func schemaNeedsAStrategyOrTheSection() throws {
        var registry = Registry.standard
        try registry.register(.almanac())
        let schema = registry.schema.text(indented: false)
        #expect(
            schema.contains(
                #""oneOf":[{"required":["strategy"]},{"required":["almanac"],"#
                    + #""properties":{"validators":false,"store":false,"fallbacks":false}}]"#), "\(schema)")
        #expect(schema.contains(#""required":["resource"],"additionalProperties":false,"anyOf""#))
        #expect(!Registry.standard.schema.text().contains("oneOf"))
    }
}
