import Foundation
import Larder
import LarderSimulation
import Testing

/// Changes leave all other bytes as they are, and meanings are compared without regard to notation.
struct JSONTextChangeTests {
    private func text(_ string: String) throws -> JSONText { try JSONText(string.utf8) }
    private func string(_ text: JSONText) -> String { String(decoding: text.bytes, as: UTF8.self) }

    @Test(arguments: [
        (#"{"a":1}"#, ["a"], "2", #"{"a":2}"#),
        (#"{ "a" : 1 , "b" : 2 }"#, ["a"], "[]", #"{ "a" : [] , "b" : 2 }"#),
        (#"{ "a" : 1 , "b" : 2 }"#, ["c"], "3", #"{ "a" : 1 , "b" : 2,"c":3}"#),
        ("{ }", ["c"], "3", #"{"c":3}"#),
        (#"{"a":{"x":1},"b":2}"#, ["a", "y"], "3", #"{"a":{"x":1,"y":3},"b":2}"#),
        (#"{"b":2}"#, ["a", "y"], "3", #"{"b":2,"a":{"y":3}}"#),
        (#"{"a":null}"#, ["a", "y"], "3", #"{"a":{"y":3}}"#),
        (#"{"\u0061":1}"#, ["a"], "2", #"{"\u0061":2}"#),
        (#"{"a":1}"#, [], "7", "7"),
    ])
    func valueIsPutInPlace(_ before: String, _ path: [String], _ value: String, _ after: String) throws {
        #expect(string(try text(before).setting(path, to: try text(value))) == after)
    }

    @Test(arguments: [
        (#"{"a":1}"#, ["a"], "{}"), (#"{"a":1,"b":2}"#, ["a"], #"{"b":2}"#), (#"{"a":1,"b":2}"#, ["b"], #"{"a":1}"#),
        (#"{ "a" : 1 , "b" : 2 , "c":3}"#, ["b"], #"{ "a" : 1 , "c":3}"#), (#"{"a":1}"#, ["x"], #"{"a":1}"#),
        (#"{"a":{"x":1}}"#, ["a", "x"], #"{"a":{}}"#), (#"{"a":1}"#, ["a", "x"], #"{"a":1}"#),
        (#"{"b":2}"#, ["a", "x"], #"{"b":2}"#),
    ])
    func memberIsRemovedWithItsComma(_ before: String, _ path: [String], _ after: String) throws {
        let changed = try text(before).setting(path, to: nil)
        #expect(string(changed) == after)
        #expect(try JSONText(changed.bytes) == changed)
    }

    @Test(arguments: [
        ("1", "1.0"), ("100", "1e2"), ("1E+2", "100"), ("0", "-0.0"), ("0.5", "5e-1"), ("-10", "-1e1"),
        ("0e999999999999999999999", "0"),
        ("12345678901234567890", "1234567890123456789e1"), (#"{"a":1,"b":2}"#, #"{ "b":2.0, "a":1 }"#),
        (#""\u0061/""#, #""a\/""#), ("\"\u{2028}\u{7F}\"", #""\u2028\u007f""#), (#"{"é":1}"#, #"{"\u00e9":1}"#),
    ])
    func notationsOfTheSameMeaningAreTheSame(_ left: String, _ right: String) throws {
        #expect(try text(left).means(text(right)))
    }

    @Test(arguments: [
        ("1", "1.1"), ("1", "-1"), ("12345678901234567890", "12345678901234567891"), ("1", "\"1\""), ("[1,2]", "[2,1]"),
        ("null", "false"), ("{}", "[]"), ("\"é\"", "\"e\u{301}\""), ("1e5", "1e6"), (#"{"a":1}"#, #"{"a":1,"b":null}"#),
    ])
    func otherMeaningsDiffer(_ left: String, _ right: String) throws {
        #expect(try !text(left).means(text(right)))
    }

    @Test(arguments: ["1e-9223372036854775808", "1e9223372036854775807", "1e99999999999999999999", "-1e-1099511627776"])
    func numbersWithHugeExponentsAreCompared(_ number: String) throws {
        #expect(try text(number).means(text(number)))
        #expect(try !text(number).means(text("1")))
    }

    @Test func temporaryIDIsReplacedInStringsAndNames() throws {
        let id = "tmp-00000000000000000000000001"
        let record = try text(#"{"a":"\#(id)","b":"/c/\#(id)/x","\#(id)":1,"l":["\#(id)"]}"#)
        #expect(string(record.replacing(id, with: try text("7"))) == #"{"a":7,"b":"/c/7/x","7":1,"l":[7]}"#)
        let named = record.replacing(id, with: try text(#""x\"y""#))
        #expect(try JSONText(named.bytes)["a"]?.string == "x\"y")
    }

    @Test(arguments: [
        (#"["\"tmp-1"]"#, #"["\"7"]"#), (#"["tmp-1\""]"#, #"["7\""]"#), (#"["\"tmp-1\""]"#, #"["\"7\""]"#),
        (#"["\\tmp-1"]"#, #"["\\7"]"#), (#"["\tmp-1"]"#, #"["\tmp-1"]"#), (#"{"tmp-1" : "tmp-1"}"#, #"{"7" : 7}"#),
        (#"{"tmp-1":"tmp-1","7":0}"#, #"{"tmp-1":7,"7":0}"#), (#""tmp-1""#, "7"),
    ])
    func temporaryIDIsReplacedBesideEscapes(_ before: String, _ after: String) throws {
        let changed = try text(before).replacing("tmp-1", with: text("7"))
        #expect(string(changed) == after)
        #expect(try JSONText(changed.bytes) == changed)
    }

    @Test func manyChangesAreMadeAsOneAfterTheOther() throws {
        var random = SeededGenerator(seed: 3)
        let values = try ["1", "\"x\"", "{}", #"{"a":{"b":1}}"#, "[1]", "null"].map { try text($0) }
        let names = ["a", "b", "é", "e\u{301}", "x\"y"] + (0..<9).map { "n\($0)" }
        func pick<Item>(_ items: [Item]) -> Item { items[Int(random.next() % UInt64(items.count))] }
        for _ in 0..<2_000 {
            let start = try text(
                pick(["{}", "{ }", "7", #"{ "a" : 1 , "\u00e9":{"b":2 } }"#, #"{"b":{"a":{}},"n0":0 }"#]))
            let most = pick([1, 3, 30])
            let changes = (0..<most).map { _ in
                (path: (0...pick([0, 0, 1, 2])).map { _ in pick(names) }, value: pick(values + [nil, nil, nil]))
            }
            let atOnce = start.setting(changes)
            #expect(try JSONText(atOnce.bytes) == atOnce)
            let expected = changes.reduce(start) { $0.setting($1.path, to: $1.value) }
            #expect(atOnce.means(expected), "\(string(start)), \(changes.map { ($0.path, $0.value.map(string)) })")
        }
    }

    /// Otherwise it would take hours.
    @Test(.timeLimit(.minutes(1))) func manyMembersAreChangedInOnePass() throws {
        let names = (0..<30_000).map { "member \($0)" }
        let old = JSONText(object: names.map { ($0, .null) })
        let new = JSONText(object: names.map { ($0, .object) })
        #expect(old.setting(names.map { ([$0], .object) }) == new)
    }

    #if os(Linux)
        @Test func canonicalFormOfDeepTextTakesLittleMemory() throws {
            let depth = 120
            let inner = "\"" + String(repeating: "a", count: 4_000_000) + "\""
            let deep = try text(String(repeating: "[", count: depth) + inner + String(repeating: "]", count: depth))
            let before = try peakMemory()
            #expect(deep.canonical == deep.bytes)
            #expect(try peakMemory() - before < 250_000_000)
        }

        /// Returns the most bytes of memory that the process has had.
        private func peakMemory() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return try #require(Int(line.filter(\.isNumber))) * 1_000
        }
    #endif

    @Test(arguments: [
        (#"{"gr\u00f6":"\u00f6"}"#, #"{"grö":"\u00f6"}"#),
        (#"{"a\/b" : {"\u0041":[{"\u0042":1}]}}"#, #"{"a/b" : {"A":[{"B":1}]}}"#),
        (#"{"a\"b":"\\"}"#, #"{"a\"b":"\\"}"#), (#"["\u0041"]"#, #"["\u0041"]"#), (#"{"a":1}"#, #"{"a":1}"#),
        (#"{"\u0000":1}"#, #"{"\u0000":1}"#),
    ])
    func namesAreWrittenWithoutEscapes(_ before: String, _ after: String) throws {
        let plain = try text(before).withPlainNames
        #expect(string(plain) == after)
        #expect(try plain.means(text(before)))
    }
}
