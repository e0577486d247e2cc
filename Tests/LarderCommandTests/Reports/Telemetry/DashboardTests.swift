import Larder
import LarderSimulation
import LarderSync
import LarderSystem
import Testing

@testable import LarderCommand
@testable import LarderReports

/// The dashboard and the alert rules name the metrics that dumps have, and no others.
@Suite struct DashboardTests {
    private static let mood = Level("mood", "How it feels", values: ["calm", "very-angry"])
    private static let naps = Counter("naps", "Calls that waited for a nap")
    private static let napTime = Counter("nap_milliseconds", "Time that naps took")
    private static let sleepers = Gauge("sleepers", "Calls that wait for a nap")
    private static let longest = Gauge("longest_sleep_seconds", "Age of the oldest call that waits")
    private static let sleep = Timing("sleep", "Times that calls slept")

    private struct Napping: Loader {
        let inner: any Loader
        let context: Context

        func load(_ call: Call) async throws -> Loaded<Entry> {
            context.set(sleepers, to: 1)
            context.set(longest, to: 2)
            context.record(sleep, .seconds(2))
            return try await inner.load(call)
        }
    }

    /// A registry with a plugin of an app, and with those of records.
    private static func registry() throws -> Registry {
        var registry = try Registry.standard.adding(.sync)
        try registry.register(
            .wrapper(
                "nap", "Lets calls wait.", counters: [naps, napTime], levels: [mood], gauges: [sleepers, longest],
                timings: [sleep]
            ) { context, inner in
                Napping(inner: inner, context: context)
            })
        return registry
    }

    /// The text of a dump in which every family has series.
    private static func metrics() throws -> String {
        let policy = """
            { "resource": "feed", "origin": "scripted", "around": ["nap", { "use": "hedge", "after": "1s" }, "breaker", "retry"],
              "strategy": "stale-while-revalidate", "store": "faulty",
              "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h" }], "refresh": { "every": "1d" } }
            """
        return try SimulatedPantry.run(["feed": policy], registry: registry()) { simulated in
            simulated.origin.play(.value("1"), .value("2"))
            simulated.store.set(.fails, for: .read)
            _ = try await simulated.resource.load(["id": "1"])
            simulated.store.set(nil, for: .read)
            for pause: Duration in [.seconds(1), .seconds(600), .seconds(1)] {
                _ = try await simulated.resource.load(["id": "1"])
                try await simulated.world.sleep(for: pause)
            }
            var dump = await simulated.pantry.metrics.dump()
            dump.unusable = [UnusablePart(resource: "feed", part: "file")]
            dump.logLost = 1
            return dump.prometheus
        }
    }

    /// The text of a dump in which every family of records has series.
    private static func metricsOfRecords() throws -> String {
        let policy = #"{ "resource": "notes", "origin": "scripted", "records": { "id": "/id", "push": "rest" } }"#
        return try SimulatedPantry.run(
            ["notes": policy], registry: .standard.adding(.sync), leaving: .anything
        ) { simulated in
            simulated.origin.play(.value(""))
            let notes = simulated.pantry.records("notes")
            var pages = notes.observe().makeAsyncIterator()
            _ = await pages.next()
            try await notes.create(JSONText(#"{"id":"a"}"#.utf8))
            _ = await pages.next()
            try await simulated.world.sleep(for: .seconds(60))
            let text = await simulated.pantry.metrics.dump().prometheus
            await simulated.pantry.close()
            return text
        }
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /larder_[a-z0-9_]+/).map { String($0.output) })
    }

    /// The texts of all members of this name, at any depth.
    private static func texts(_ name: String, in facts: Facts) -> [String] {
        facts.members.keys.flatMap { member in
            (member == name ? [facts[member].string].compactMap { $0 } : []) + texts(name, in: facts[member])
        } + facts.items.flatMap { texts(name, in: $0) }
    }

    @Test func everyNameInAnExpressionIsInARealDump() async throws {
        let written = Self.names(in: try Self.metrics()).union(Self.names(in: try Self.metricsOfRecords()))
        let registry = try Self.registry()
        for (arguments, least) in [(["dashboard"], 50), (["dashboard", "--alerts", "--json"], 12)] {
            let output = await Output(arguments, registry: registry)
            #expect(output.code == 0)
            let expressions = try Self.texts("expr", in: Facts(output.out))
            #expect(expressions.count >= least, "\(expressions.count)")
            for expression in expressions {
                let names = Self.names(in: expression)
                #expect(!names.isEmpty && names.isSubset(of: written), "\(expression)")
            }
        }
    }

    @Test func dashboardShowsEveryMetricOfTheRegistry() async throws {
        let registry = try Self.registry()
        let shown = Self.names(in: await Output(["dashboard"], registry: registry).out)
        let own = [
            "larder_naps_total", "larder_nap_seconds_total", "larder_mood_very_angry", "larder_sleepers",
            "larder_sleep_seconds_bucket",
        ]
        for name in Counter.core.map(\.family.sampleName) + registry.counters.map(\.family.sampleName) + own {
            #expect(shown.contains(name), "\(name)")
        }
        #expect(!Self.names(in: await Output(["dashboard"]).out).contains(own[0]))
        let longest = try Self.texts("expr", in: Facts(await Output(["dashboard"], registry: registry).out))
            .filter { $0.contains("larder_longest_sleep_seconds") }
        #expect(longest.count == 1 && longest[0].hasPrefix("max by (resource)"))
    }

    @Test func worstValueOfEachLevelHasARule() async throws {
        let rules = await Output(["dashboard", "--alerts"], registry: try Self.registry()).out
        #expect(rules.contains("alert: \"LarderMoodVeryAngry\""))
        #expect(rules.contains(#"expr: "max by (job, resource) (larder_mood_very_angry) == 1""#))
        #expect(rules.contains("alert: \"LarderBreakerOpen\""))
        #expect(!rules.contains("HalfOpen"))
    }

    @Test func changesThatDoNotReachTheServiceHaveRulesAndPanels() async throws {
        let registry = try Registry.standard.adding(.sync)
        let rules = await Output(
            ["dashboard", "--alerts", "--window", "15m", "--rejected", "2%", "--waiting", "2h"], registry: registry
        ).out
        #expect(
            rules.contains(#"expr: "max by (job, resource) (larder_sync_oldest_pending_seconds) > 7200""#))
        #expect(rules.contains(#"expr: "max by (job, resource) (larder_sync_unaccounted) > 0""#))
        let (rejected, accepted) = ("larder_sync_rejected_total[15m]", "larder_sync_accepted_total[15m]")
        func sum(_ function: String, _ series: String) -> String { "sum by (job, resource) (\(function)(\(series)))" }
        #expect(
            rules.contains(
                "\(sum("rate", rejected)) / (\(sum("rate", accepted)) + \(sum("rate", rejected))) > 0.02 and "
                    + "(\(sum("increase", accepted)) + \(sum("increase", rejected))) >= 20"))
        #expect(rules.contains("LarderSyncOutboxFull") && rules.contains("LarderSyncPullSuspicious"))
        let off = await Output(
            ["dashboard", "--alerts", "--rejected", "off", "--waiting", "off"], registry: registry
        ).out
        #expect(!off.contains("LarderChangesRejected") && !off.contains("LarderChangesWait"))
        let dashboard = try Facts(await Output(["dashboard"], registry: registry).out)
        let titles = Self.texts("title", in: dashboard)
        for title in [
            "Rejected changes", "Sync pending", "Sync oldest pending", "Sync unaccounted", "Sync outbox", "Sync pull",
            "Sync acceptance",
        ] { #expect(titles.contains(title), "\(title)") }
        // Without the metrics, there is nothing to warn of.
        #expect(await !Output(["dashboard", "--alerts"], registry: .standard).out.contains("sync"))
        #expect(await !Output(["dashboard"], registry: .standard).out.contains("Rejected changes"))
    }

    @Test func optionsSetTheLimitsOfRules() async throws {
        let rules = await Output([
            "dashboard", "--alerts", "--window", "15m", "--for", "2m", "--loads", "7", "--failed", "12.5%", "--p95",
            "250ms", "--refused", "off", "--age", "off",
        ]).out
        let lines = rules.split(separator: "\n")
        let failing = lines.firstIndex { $0.contains("LarderLoadsFail") }
        let expression = try #require(failing.map { lines[$0 + 1] })
        #expect(expression.contains("> 0.125 and sum by (job, resource) (increase(larder_loads_total[15m])) >= 7"))
        #expect(failing.map { lines[$0 + 2] } == "        for: \"2m\"")
        #expect(rules.contains("> 0.25 and "))
        #expect(!rules.contains("LarderCopiesRefused") && !rules.contains("LarderCopiesOld"))
    }

    @Test(arguments: [("p95", "29999ms", "30s"), ("age", "2591999s", "30d")])
    func limitBeyondTheBucketsIsRefused(_ option: String, _ possible: String, _ most: String) async {
        for tooLong in [most, "365d"] {
            let output = await Output(["dashboard", "--alerts", "--" + option, tooLong])
            #expect(output.code == 2 && output.err.contains("--\(option) must be shorter than \(most): the buckets"))
        }
        #expect(await Output(["dashboard", "--alerts", "--" + option, possible]).code == 0)
    }

    @Test(arguments: [
        ["--failed", "5"], ["--failed", "-1%"], ["--failed", "many"], ["--p95", "2"], ["--age", "forever"],
        ["--window", "0s"], ["--rejected", "2"], ["--waiting", "long"], ["--for", "soon"], ["--loads", "-1"],
        ["--out", "x", "--alerts"], ["operand"],
    ])
    func wrongOptionsAreRefused(_ options: [String]) async {
        #expect(await Output(["dashboard"] + options).code == 2)
    }

    @Test func bothFilesAreWrittenToTheFolder() async throws {
        let folder = try Folder()
        let output = await Output(["dashboard", "--out", folder.path + "/new", "--json"])
        #expect(output.code == 0)
        #expect(
            try Facts(output.out)["files"].items.compactMap(\.string)
                == ["larder-dashboard.json", "larder-alerts.yml"].map { folder.path + "/new/" + $0 })
        #expect(try folder.text(of: "new/larder-dashboard.json") == (await Output(["dashboard"])).out)
        #expect(try folder.text(of: "new/larder-alerts.yml") == (await Output(["dashboard", "--alerts"])).out)
    }

    @Test func folderThatCannotBeWrittenIsAnError() async throws {
        let folder = try Folder()
        try folder.write("", to: "file")
        let output = await Output(["dashboard", "--out", folder.path + "/file/below"])
        #expect(output.code == 1 && output.err.contains("cannot be written"))
    }

    @Test func panelsHaveDifferentIdsAndDoNotOverlap() async throws {
        let panels = try Facts(await Output(["dashboard"]).out)["panels"].items
        #expect(Set(panels.compactMap { $0["id"].int }).count == panels.count)
        var taken: Set<[Int]> = []
        for panel in panels {
            let place = panel["gridPos"]
            for x in 0..<(place["w"].int ?? 0) {
                for y in 0..<(place["h"].int ?? 0) {
                    #expect(taken.insert([x + (place["x"].int ?? 0), y + (place["y"].int ?? 0)]).inserted)
                }
            }
        }
    }

    @Test func yamlQuotesTextsAndIndentsBlocks() {
        let json: JSON = ["a": [["b": "c: \"d\"", "e": 1], "f"], "g": [], "h": ["i": true]]
        #expect(
            json.yaml == """
                a:
                  - b: "c: \\"d\\""
                    e: 1
                  - "f"
                g: []
                h:
                  i: true

                """)
    }
}
