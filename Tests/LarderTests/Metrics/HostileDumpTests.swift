import Larder
import Testing

@testable import LarderCore

/// Dumps whose trees would take much memory, or whose numbers are absurd.
@Suite struct HostileDumpTests {
    private static let total =
        #"{"counters":{},"faults":[],"latency":{},"origin_answer_latency":[0,"",""],"ages":{}}"#

    private static func dump(_ resources: [String], before: String = "", after: String = "") throws -> MetricsDump {
        let text =
            #"{"format":"larder-metrics/2","process":"p","instance":"i","started":0,"written":1,"#
            + before + #""resources":["# + resources.joined(separator: ",") + "]" + after + "}"
        return try MetricsDump(reading: Array(text.utf8))
    }

    private static func resource(_ name: String, _ more: String = "", total: String? = nil) -> String {
        let revision = #"{"revision":"a","strategy":"s","current":true,"windows":{},"periods":[],"total":"#
        return #"{"resource":"\#(name)","in_flight":0\#(more),"revisions":["#
            + (total.map { revision + $0 + "}" } ?? "") + "]}"
    }

    private static func zeros(_ count: Int) -> String { "[0" + String(repeating: ",0", count: count - 1) + "]" }

    /// The reason why the dump that `make` reads is refused.
    private static func reason(_ make: () throws -> MetricsDump) -> String? {
        do {
            _ = try make()
            return nil
        } catch { return "\(error)" }
    }

    @Test func dumpWithTooManyValuesIsRefusedWithTheLimit() {
        let limit = "more than 500000 JSON values in a resource or outside of the resources"
        let zeros = Self.zeros(500_000)
        #expect(Self.reason { try Self.dump([], before: #""x":\#(zeros),"#) } == limit)
        #expect(Self.reason { try Self.dump([], after: #","x":\#(zeros)"#) } == limit)
        #expect(Self.reason { try Self.dump([Self.resource("a", #","x":\#(zeros)"#)]) } == limit)
    }

    @Test func resourcesTogetherMayHaveMoreValuesThanOne() throws {
        let zeros = Self.zeros(300_000)
        let dump = try Self.dump(["a", "b", "c"].map { Self.resource($0, #","x":\#(zeros)"#) })
        #expect(dump.resources.map(\.name) == ["a", "b", "c"])
    }

    @Test func dumpWithTooManyResourcesIsRefusedWithTheLimit() throws {
        let names = (0...10_000).map { Self.resource("r\($0)") }
        #expect(Self.reason { try Self.dump(names) } == "more than 10000 resources")
        #expect(try Self.dump(names.dropLast()).resources.count == 10_000)
    }

    @Test func policiesWithTooManyValuesAreRefusedWithTheLimit() {
        let policy = #"{"x":\#(Self.zeros(300_000))}"#
        let resource = { (name: String) in
            Self.resource(name, total: Self.total).replacing(#""total""#, with: #""policy":\#(policy),"total""#)
        }
        #expect(Self.reason { try Self.dump([resource("a")]) } == nil)
        #expect(
            Self.reason { try Self.dump([resource("a"), resource("b")]) } == "more than 500000 values in policies")
    }

    @Test func dumpWithTooManyElementsIsRefusedWithTheLimit() {
        func list(_ item: String, _ count: Int) -> String {
            "[" + repeatElement(item, count: count).joined(separator: ",") + "]"
        }
        func resource(_ list: String, of name: String) -> String {
            let text = Self.resource("a", total: Self.total)
            return text.replacing("\"\(name)\":[]", with: "\"\(name)\":\(list)")
        }
        let gaps = PackedNumbers.text(Array(repeating: 0, count: 60_000))
        let periods = resource(#"{"start":0,"step":300,"gaps":"\#(gaps)","counters":{}}"#, of: "periods")
        #expect(Self.reason { try Self.dump([periods]) } == nil)
        #expect(Self.reason { try Self.dump([periods, periods]) } == "more than 100000 periods")
        let faults = resource(list(#"{"tier":"t","kind":"read","count":1}"#, 60_000), of: "faults")
        #expect(Self.reason { try Self.dump([faults, faults]) } == "more than 100000 faults")
        let one = #"{"revision":"a","strategy":"s","windows":{},"periods":[],"total":\#(Self.total)}"#
        let revisions = #"{"resource":"a","in_flight":0,"revisions":\#(list(one, 6_000))}"#
        #expect(Self.reason { try Self.dump([revisions, revisions]) } == "more than 10000 revisions")
        let parts = list(#"{"part":"p"}"#, 10_001)
        #expect(
            Self.reason { try Self.dump([], before: #""unusable":\#(parts),"#) } == "more than 10000 unusable parts")
    }

    @Test func namesOfEditionsAreLimitedAndOtherValuesIgnored() throws {
        func supplied(_ text: String) throws -> [String] {
            let resource = Self.resource("a", total: Self.total)
            return try Self.dump([resource.replacing(#""total""#, with: #""supplied":\#(text),"total""#)])
                .resources[0].revisions[0].supplied
        }
        #expect(try supplied(#"[7,"42",null,["43"]]"#) == ["42"])
        for text in ["7", "null", #""42""#, "{}"] { #expect(try supplied(text) == []) }
        let long = "\"" + String(repeating: "9", count: 1_000) + "\""
        let names = try supplied("[" + Array(repeating: long, count: 50).joined(separator: ",") + "]")
        #expect(names.map(\.count) == Array(repeating: 256, count: 16))
    }

    @Test func declarationsAfterTheResourcesCountToo() throws {
        let counter = #"{"counters":{"yawns":1},"faults":[],"latency":{},"ages":{},"#
        let total = counter + #""origin_answer_latency":[0,"",""]}"#
        let declared = #""declared":{"counters":{"yawns":"How often somebody yawned"}}"#
        let resources = [Self.resource("a", total: total)]
        let dumps = [
            try Self.dump(resources, before: declared + ","), try Self.dump(resources, after: "," + declared),
        ]
        for dump in dumps {
            let counters = dump.resources[0].total.pluginCounters
            #expect(counters.map(\.help) == ["How often somebody yawned"])
        }
    }

    @Test(arguments: ["9223372036854775807", "1e18", "1e308", "-1", "0.5", "null", "\"1\""])
    func absurdCountIsRefused(_ count: String) {
        let total = Self.total.replacing(#""counters":{}"#, with: #""counters":{"loads":\#(count)}"#)
        #expect(Self.reason { try Self.dump([Self.resource("a", total: total)]) } == "'loads' is not a whole number")
    }

    @Test(
        arguments: [
            ([1_851], [0]), ([1_850, 0], [0, 0]), ([5], [0, 0]), ([5, 5], [0]), ([MetricsDump.mostCount], [0]),
        ] as [([UInt64], [UInt64])])
    func absurdBucketIsRefused(_ gaps: [UInt64], _ counts: [UInt64]) {
        let sketch = #"[0,"\#(PackedNumbers.text(gaps))","\#(PackedNumbers.text(counts))"]"#
        #expect(Self.reason { try Self.dump([Self.resource("a", total: Self.total(sketch))]) } != nil)
    }

    @Test(arguments: [
        "[]", "{}", "7", #"[0,""]"#, #"[0,"","",""]"#, #"[0,"*","A"]"#, #"[0,7,""]"#, #"["","",""]"#,
        "[1e99,\"\",\"\"]",
    ])
    func thingThatIsNoSketchIsRefused(_ sketch: String) {
        #expect(Self.reason { try Self.dump([Self.resource("a", total: Self.total(sketch))]) } != nil)
    }

    private static func total(_ sketch: String) -> String { total.replacing(#"[0,"",""]"#, with: sketch) }

    @Test(arguments: ["[", #"{"a":"#])
    func deepNestingIsRefused(_ opening: String) {
        let deep = String(repeating: opening, count: 1_000_000)
        #expect(Self.reason { try Self.dump([deep]) } == "not JSON: nested deeper than 64 levels")
    }
}
