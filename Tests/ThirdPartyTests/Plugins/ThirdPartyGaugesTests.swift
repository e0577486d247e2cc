import LarderFoundation
import Larder
import LarderReports
import LarderSimulation
import Synchronization
import Testing

extension Gauge {
    fileprivate static let waiting = Gauge("letters_waiting", "Letters that are not sent yet")
    fileprivate static let oldest = Gauge("oldest_letter_seconds", "Age of the oldest letter")
    fileprivate static let unknown = Gauge("letters_lost", "Nobody declares it")
}

extension Timing {
    fileprivate static let delivery = Timing("letter_delivery", "Times until letters arrive")
    fileprivate static let unknown = Timing("letter_reading", "Nobody declares it")
}

/// Gauges and timings of a third party's plugins, from their declaration to a report.
@Suite struct ThirdPartyGaugesTests {
    private final class Letters: Larder.Attachment {
        let context: SectionContext
        let looked = Mutex<Double?>(nil)

        init(_ context: SectionContext) { self.context = context }

        func measure() async {
            if let looked = looked.withLock({ $0 }) { context.set(.waiting, to: looked) }
        }
    }

    private final class Parcels: Larder.Attachment {
        let context: SectionContext

        init(_ context: SectionContext) { self.context = context }
    }

    private static let letters = Plugin.section(
        "letters", "Sends letters.", gauges: [.waiting, .oldest], timings: [.delivery]
    ) { context in Letters(context) }

    private static func policy(_ sections: String = #", "letters": {}"#) -> String {
        #"{ "resource": "mail", "origin": "scripted", "strategy": "network-only"\#(sections) }"#
    }

    private static func run(_ test: @escaping @Sendable (SimulatedPantry, SectionContext) async throws -> Void) throws {
        try SimulatedPantry.run(["mail": policy()], plugins: [letters]) { simulated in
            try await test(simulated, try #require(simulated.pantry.attachment(Letters.self, of: "mail")).context)
        }
    }

    @Test func dumpHasGaugesAndTimingsAndIsReadBack() throws {
        try Self.run { simulated, context in
            let before = await simulated.pantry.metrics.dump()
            #expect(before.resources[0].gauges.isEmpty && !before.json.text().contains("letters_waiting"))
            context.set(.waiting, to: 3)
            context.set(.waiting, to: 2)
            context.set(.oldest, to: 90.5)
            for seconds in 1...100 { context.record(.delivery, .seconds(seconds)) }
            context.record(.delivery, .seconds(-1))
            let dump = await simulated.pantry.metrics.dump()
            #expect(dump.resources[0].gauges == [.waiting: 2, .oldest: 90.5])
            let sketch = try #require(dump.resources[0].total.timings[.delivery])
            let half = try #require(sketch.percentile(0.5))
            #expect(sketch.count == 101 && half > .seconds(49) && half < .seconds(52))
            let text = Array(dump.json.text().utf8)
            let again = try MetricsDump(reading: text)
            #expect(again.resources == dump.resources)
            #expect(again.prometheus == dump.prometheus)
        }
    }

    @Test func textFormatsHaveGaugesAndHistograms() throws {
        try Self.run { simulated, context in
            context.set(.waiting, to: 2)
            context.set(.oldest, to: 90.5)
            context.record(.delivery, .seconds(3))
            let dump = await simulated.pantry.metrics.dump()
            for text in [dump.prometheus, dump.openMetrics] {
                #expect(text.contains("# TYPE larder_letters_waiting gauge\n"))
                #expect(text.contains("# HELP larder_letters_waiting Letters that are not sent yet\n"))
                #expect(text.contains(#"larder_letters_waiting{resource="mail"} 2"#))
                #expect(text.contains(#"larder_oldest_letter_seconds{resource="mail"} 90.5"#))
                #expect(text.contains("# TYPE larder_letter_delivery_seconds histogram\n"))
                #expect(text.contains(#"larder_letter_delivery_seconds_count{resource="mail"} 1"#))
            }
        }
    }

    @Test func undeclaredMetricsAreIgnored() throws {
        try Self.run { simulated, context in
            context.set(.unknown, to: 1)
            context.record(.unknown, .seconds(1))
            let mail = await simulated.pantry.metrics.dump().resources[0]
            #expect(mail.gauges.isEmpty && mail.total.timings.isEmpty)
        }
    }

    @Test(arguments: [nil, Double.nan, .infinity, -.infinity])
    func gaugeThatIsNotKnownIsInNoDump(_ number: Double?) throws {
        try Self.run { simulated, context in
            context.set(.waiting, to: 3)
            context.set(.waiting, to: number)
            #expect(await simulated.pantry.metrics.dump().resources[0].gauges.isEmpty)
        }
    }

    @Test func attachmentIsAskedBeforeEachDump() throws {
        try Self.run { simulated, _ in
            let letters = try #require(simulated.pantry.attachment(Letters.self, of: "mail"))
            for number in [3.0, 5] {
                letters.looked.withLock { $0 = number }
                #expect(await simulated.pantry.metrics.dump().resources[0].gauges == [.waiting: number])
            }
        }
    }

    @Test func gaugeOfSeveralPartsIsTheirSumOrTheLargestTimeAndSurvivesAReload() throws {
        let parcels = Plugin.section("parcels", "Sends parcels.", gauges: [.waiting, .oldest]) { Parcels($0) }
        let policy = Self.policy(#", "letters": {}, "parcels": {}"#)
        try SimulatedPantry.run(["mail": policy], plugins: [Self.letters, parcels]) { simulated in
            let letters = try #require(simulated.pantry.attachment(Letters.self, of: "mail")).context
            let parcels = try #require(simulated.pantry.attachment(Parcels.self, of: "mail")).context
            func gauges() async -> [Gauge: Double] { await simulated.pantry.metrics.dump().resources[0].gauges }
            for (context, number) in [(letters, 2.0), (parcels, 3)] {
                context.set(.waiting, to: number)
                context.set(.oldest, to: number)
            }
            #expect(await gauges() == [.waiting: 5, .oldest: 3])
            _ = try await simulated.pantry.replace(policies: [
                "mail": Self.policy(#", "letters": {}, "parcels": {}, "log": 0.5"#)
            ])
            #expect(await gauges() == [.waiting: 5, .oldest: 3])
            _ = try await simulated.pantry.replace(policies: ["mail": Self.policy(#", "parcels": {}"#)])
            #expect(await gauges() == [.waiting: 3, .oldest: 3])
            _ = try await simulated.pantry.replace(policies: ["mail": Self.policy("")])
            #expect(await gauges().isEmpty)
        }
    }

    @Test func reportAddsUpGaugesAndMergesTimings() throws {
        let dumps = try (1...3).map { number in
            let box = DumpBox()
            try SimulatedWorld(seed: UInt64(number)).run { world in
                let simulated = try await SimulatedPantry(["mail": Self.policy()], in: world, plugins: [Self.letters])
                let letters = try #require(simulated.pantry.attachment(Letters.self, of: "mail"))
                letters.context.set(.waiting, to: Double(number))
                letters.context.set(.oldest, to: Double(number * 60))
                letters.context.record(.delivery, .seconds(number * 10))
                box.set(await simulated.pantry.metrics.dump())
            }
            return try #require(box.value)
        }
        let now = try #require(dumps.map(\.written).max())
        let report = try Report(adding: dumps, now: now)
        let mail = try #require(report.sections.first)
        #expect(mail.gauges == [.waiting: 6, .oldest: 180])
        #expect(mail.total.timings[.delivery]?.count == 3)
        #expect(report.dump.resources[0].gauges == mail.gauges)
        let text = report.text
        #expect(
            text.contains("letters waiting: 6; oldest letter: 3 min; letter delivery: p50 20 s, p95 30 s"), "\(text)")
        #expect(
            report.html.contains("letters that are not sent yet") && report.html.contains("times until letters arrive"))
        let json = report.json.text(indented: false)
        #expect(json.contains(#""gauges":{"letters_waiting":6,"oldest_letter_seconds":180}"#), "\(json)")
        #expect(json.contains(#""timings":{"letter_delivery":{"count":3,"p50":"#), "\(json)")
    }

    @Test func oldDumpWithoutThemAndADamagedOneAreReadOrRefused() throws {
        try Self.run { simulated, context in
            context.set(.waiting, to: 2)
            let text = await simulated.pantry.metrics.dump().json.text(indented: false)
            let old = text.replacing(#""gauges":{"letters_waiting":2},"#, with: "")
            let former = try MetricsDump(reading: Array(old.utf8))
            #expect(old != text && former.resources[0].gauges.isEmpty)
            let wrong = text.replacing(#"{"letters_waiting":2}"#, with: #"{"letters_waiting":"2"}"#)
            #expect(throws: MetricsDump.Unreadable.self) { try MetricsDump(reading: Array(wrong.utf8)) }
            let odd = text.replacing(#"{"letters_waiting":2}"#, with: #"{"Letters Waiting":2,"loads_total":1}"#)
            let strange = try MetricsDump(reading: Array(odd.utf8))
            #expect(strange.resources[0].gauges.isEmpty)
        }
    }

    @Test(arguments: [
        (
            Plugin.section("x", "X.", gauges: [Gauge("Big", "x")]) { Letters($0) },
            "gauge 'Big': its name is not made of"
        ),
        (
            .section("x", "X.", gauges: [Gauge("store_bytes", "x")]) { Letters($0) },
            "gauge 'store_bytes': the text formats use"
        ),
        (
            .section("x", "X.", timings: [Timing("wait_seconds", "x")]) { Letters($0) },
            "timing 'wait_seconds': its name has a unit"
        ),
        (
            .section("x", "X.", timings: [Timing("load_duration", "x")]) { Letters($0) },
            "timing 'load_duration': the text formats use"
        ),
        (
            .section("x", "X.", gauges: [Gauge("a", "x"), Gauge("a", "y")]) { Letters($0) },
            "gauge 'a': that name is already used"
        ),
        (
            .section("x", "X.", gauges: [Gauge("a_seconds", "x")], timings: [Timing("a", "y")]) { Letters($0) },
            "timing 'a': that name is already used"
        ),
    ])
    func wrongNameIsRefused(_ plugin: Plugin, reason: String) {
        let error = #expect(throws: Registry.Conflict.self) { try Registry([plugin]) }
        #expect(
            error?.description.contains("section 'x' cannot have the \(reason)") == true, "\(error?.description ?? "")")
    }
}

/// Keeps a dump that a simulated world made.
private final class DumpBox: Sendable {
    private let dump = Mutex<MetricsDump?>(nil)

    var value: MetricsDump? { dump.withLock { $0 } }

    func set(_ value: MetricsDump) { dump.withLock { $0 = value } }
}
