import Foundation
import Larder
import LarderSimulation
import Testing

@testable import LarderSync

@Suite struct QueryTests {
    private let sample: QuerySample

    init() throws { sample = try QuerySample() }

    private let name = Field<String>("name")
    private let size = Field<Int>("size")

    // MARK: All conditions

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func randomConditionsSelectWhatPlainSwiftSelects(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for number in 0..<60 {
            let record = JSONText.randomRecord(&random)
            let base = random.roll(2) == 0 ? nil : JSONText.randomRecord(&random)
            try sample.add("\(number)", record, base: base)
        }
        // An index must not change what is found.
        if seed % 2 == 0 {
            for (number, path) in RandomCondition.fields.enumerated() {
                let column = try ConditionSQL.column(path)
                try sample.connection.run("CREATE INDEX i\(number) ON records(\(column))")
            }
        }
        var counts: Set<Int> = []
        for _ in 0..<250 {
            let condition = RandomCondition(&random)
            let found = try sample.ids(Query(condition.condition))
            let expected = sample.records.filter { condition.holds($0.record) }.map(\.id)
            #expect(found == expected, "\(condition.condition)")
            counts.insert(found.count)
        }
        // Otherwise this would show little.
        #expect(counts.count > 15)
    }

    @Test func fieldsWhoseNamesOnlyLookAlikeAreTwo() throws {
        let names = ["\u{E9}", "e\u{301}"]
        for name in names { try sample.add(name, JSONText(object: [(name, JSONText(string: "a"))])) }
        for name in names {
            let found = try sample.ids(Query(Field<String>(name) == "a"))
            #expect(found.map { Array($0.utf8) } == [Array(name.utf8)])
        }
    }

    @Test func randomOrdersSortLikePlainSwift() throws {
        var random = SeededGenerator(seed: 9)
        for number in 0..<50 { try sample.add("\(number)", JSONText.randomRecord(&random)) }
        let numbered = sample.records.enumerated().map { (number: $0, id: $1.id, record: $1.record) }
        for _ in 0..<40 {
            let (first, second) = (random.roll(5), random.roll(5))
            let isDescending = [random.roll(2) == 0, random.roll(2) == 0]
            let paths = [RandomCondition.fields[first], RandomCondition.fields[second]]
            var query = Query()
            for (path, isDescending) in zip(paths, isDescending) {
                let field = Field<String>(JSONPointer(steps: path))
                query = query.sorted(by: field, isDescending ? .descending : .ascending)
            }
            let expected = numbered.sorted { left, right in
                for (path, isDescending) in zip(paths, isDescending) {
                    let (a, b) = (SortKey(left.record[path]), SortKey(right.record[path]))
                    if a != b { return (a < b) != isDescending }
                }
                return left.number < right.number
            }.map(\.id)
            #expect(try sample.ids(query) == expected)
            #expect(try sample.ids(query.limit(7)) == Array(expected.prefix(7)))
        }
    }

    // MARK: Single conditions

    @Test func recordsWithoutTheFieldDifferFromEveryValue() throws {
        try sample.add(["a": #"{"name":"x"}"#, "b": #"{"name":"y"}"#, "c": #"{"name":null}"#, "d": "{}"])
        #expect(try sample.ids(Query(name != "x")) == ["b", "c", "d"])
        #expect(try sample.ids(Query(name.isNil)) == ["c", "d"])
        #expect(try sample.ids(Query(!name.isNil)) == ["a", "b"])
        #expect(try sample.ids(Query(!(name < "y"))) == ["b", "c", "d"])
        #expect(try sample.ids(Query(name >= "x")) == ["a", "b"])
    }

    @Test func nilOfAnOptionalFieldIsAbsentOrNull() throws {
        let name = Field<String?>("name")
        try sample.add(["a": #"{"name":"x"}"#, "b": #"{"name":null}"#, "c": "{}"])
        #expect(try sample.ids(Query(name == nil)) == ["b", "c"])
        #expect(try sample.ids(Query(name != nil)) == ["a"])
        #expect(try sample.ids(Query(name.in(["x", nil]))) == ["a", "b", "c"])
        #expect(try sample.ids(Query(name < "z")) == ["a"])
    }

    @Test func textsAreFoundByPrefixWithoutWildcards() throws {
        try sample.add([
            "a": #"{"name":"50% off"}"#, "b": #"{"name":"50 off"}"#, "c": #"{"name":"5_"}"#, "d": #"{"name":"5a"}"#,
        ])
        #expect(try sample.ids(Query(name.hasPrefix("50%"))) == ["a"])
        #expect(try sample.ids(Query(name.hasPrefix("5_"))) == ["c"])
        #expect(try sample.ids(Query(name.contains("%"))) == ["a"])
        #expect(try sample.ids(Query(name.contains("OFF"))) == [])
    }

    @Test func truthAndOneAreDifferent() throws {
        try sample.add([
            "a": #"{"size":1}"#, "b": #"{"size":true}"#, "c": #"{"size":"1"}"#, "d": #"{"size":0}"#,
            "e": #"{"size":false}"#,
        ])
        #expect(try sample.ids(Query(size == 1)) == ["a"])
        #expect(try sample.ids(Query(size < 1)) == ["d"])
        #expect(try sample.ids(Query(Field<Bool>("size") == true)) == ["b"])
        #expect(try sample.ids(Query(Field<Bool>("size") == false)) == ["e"])
        #expect(try sample.ids(Query(size.in([0, 1, 7]))) == ["a", "d"])
    }

    @Test func aListThatIsWrittenLikeATextIsNotThatText() throws {
        try sample.add(["a": #"{"name":["x"]}"#, "b": #"{"name":"[\"x\"]"}"#])
        #expect(try sample.ids(Query(name == #"["x"]"#)) == ["b"])
        #expect(try sample.ids(Query(name.hasPrefix("["))) == ["b"])
        #expect(try sample.ids(Query(Field<[String]>("name").contains("x"))) == ["a"])
    }

    @Test func largeAndLongNumbersAreComparedExactly() throws {
        try sample.add([
            "a": #"{"size":9007199254740993}"#, "b": #"{"size":9007199254740992}"#, "c": #"{"size":0.1}"#,
            "d": #"{"size":1e-1}"#, "e": #"{"size":0.30000000000000004}"#, "f": #"{"size":0.3}"#,
        ])
        #expect(try sample.ids(Query(size == 9_007_199_254_740_993)) == ["a"])
        #expect(try sample.ids(Query(Field<Double>("size") == 0.1)) == ["c", "d"])
        #expect(try sample.ids(Query(Field<Double>("size") == 0.1 + 0.2)) == ["e"])
    }

    @Test func datesAreComparedInTheFormatOfTheRecords() throws {
        try sample.add([
            "a": #"{"at":"2026-05-01T10:00:00Z"}"#, "b": #"{"at":"2026-05-02T10:00:00Z"}"#, "c": #"{"at":799408800}"#,
        ])
        let (at, date) = (Field<Date>("at"), Date(timeIntervalSince1970: 1_777_629_600))
        #expect(try sample.ids(Query(at == date), in: ISODates.self) == ["a"])
        #expect(try sample.ids(Query(at > date), in: ISODates.self) == ["b"])
        #expect(try sample.ids(Query(at <= date)) == [])
    }

    @Test func aListOfManyValuesIsOneBoundValue() throws {
        try sample.add(["a": #"{"name":"v1500"}"#, "b": #"{"name":"w"}"#])
        let query = Query(name.in((0..<2_000).map { "v\($0)" }))
        #expect(try sample.ids(query) == ["a"])
        #expect(try query.selection(in: nil).values.count == 1)
        #expect(try sample.ids(Query(name.in([]))) == [])
        #expect(try sample.ids(Query(!name.in([]))) == ["a", "b"])
    }

    @Test func namesOfFieldsArePartOfNoStatement() throws {
        let name = "a'); DROP TABLE records; --"
        try sample.add("1", JSONText(object: [(name, JSONText(string: "x"))]))
        #expect(try sample.ids(Query(Field<String>(name) == "x").sorted(by: Field<String>(name))) == ["1"])
        #expect(try sample.ids(Query(Field<[String]>(name).contains("x"))) == [])
        #expect(try sample.ids(Query()) == ["1"])
    }

    // MARK: Indexes

    @Test func conditionsAndOrdersUseIndexes() throws {
        let (owner, updated) = (Field<String>("owner"), Field<Int>("updated"))
        let columns = try [ConditionSQL.column(["owner"]), ConditionSQL.column(["updated"])]
        try sample.connection.run("CREATE INDEX byOwner ON records(\(columns[0]), \(columns[1]) DESC)")
        for query in [
            Query(owner == "me"), Query(owner.in(["me", "you"])), Query(owner.hasPrefix("m")), Query(owner.isNil),
            Query(owner == "me" && updated > 7), Query(owner > "m").sorted(by: owner), Query(owner == "[]"),
        ] {
            #expect(try sample.plan(query).contains("SEARCH records USING INDEX byOwner"))
        }
        let latest = try sample.plan(Query(owner == "me").sorted(by: updated, .descending).limit(50))
        #expect(latest.contains("SEARCH records USING INDEX byOwner") && !latest.contains("TEMP B-TREE"))
        // Only those that are equal are sorted.
        let earliest = try sample.plan(Query(owner == "me").sorted(by: updated).limit(50))
        #expect(
            earliest.contains("SEARCH records USING INDEX byOwner") && !earliest.contains("TEMP B-TREE FOR ORDER BY"))
        let number = Query(Field<String>("owner") == "me" && Field<Double>("updated") >= 2.5)
        #expect(try sample.plan(number).contains("<expr>=? AND <expr>>?"))
    }

    // MARK: Mistakes

    @Test(arguments: [[], [""], ["a", ""], ["a\"b"], ["a\\b"], ["a\u{1}"], ["a\0b"]])
    func aFieldThatHasNoNameInSQLIsAnError(_ path: [String]) throws {
        let field = Field<String>(JSONPointer(steps: path))
        let queries = [
            Query(field == "x"), Query(field.isNil), Query(field.hasPrefix("x")), Query(field.contains("x")),
            Query(field.in(["x"])), Query().sorted(by: field),
            Query(Field<[String]>(JSONPointer(steps: path)).contains("x")),
        ]
        for query in queries { #expect(throws: QueryError.self) { try query.selection(in: nil) } }
    }

    @Test func valuesThatCannotBeComparedAreErrorsWithoutTheValue() throws {
        let (point, number) = (Field<[String: Int]>("place"), Field<Double>("size"))
        for query in [
            Query(point == ["secret": 1]), Query(number == .nan), Query(Field<[String]>("list") == ["secret"]),
        ] {
            let error = #expect(throws: QueryError.self) { try query.selection(in: nil) }
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test func aHugeOrDeepConditionIsAnError() throws {
        let chain = (0..<400).map { size == $0 }.reduce(size == -1) { $0 || $1 }
        #expect(try sample.ids(Query(chain)) == [])
        let long = (0..<600).map { size == $0 }.reduce(size == -1) { $0 || $1 }
        #expect(throws: QueryError.self) { try Query(long).selection(in: nil) }
        let deep = (0..<200).reduce(size == 0) { $1 % 2 == 0 ? $0 && size == $1 : $0 || size == $1 }
        #expect(throws: QueryError.self) { try Query(deep).selection(in: nil) }
    }

    // MARK: Notation

    @Test func memberWhoseNameIsWrittenWithEscapesIsFound() throws {
        let record = try JSONText(#"{"gr\u00f6\u00dfe":"\u0041","a\/b":{"\u0063":2}}"#.utf8)
        try sample.add("a", record.withPlainNames)
        #expect(try sample.ids(Query(Field<String>("größe") == "A")) == ["a"])
        #expect(try sample.ids(Query(Field<Int>("a/b", "c") == 2)) == ["a"])
    }

    @Test func textWithZeroCharacterIsTakenForNoOther() throws {
        try sample.add([
            "a": #"{"name":"x\u0000y","tags":["x\u0000"]}"#, "b": #"{"name":"x","tags":["x"]}"#,
            "c": #"{"name":"x\\u0000y","other":"\u0000"}"#, "d": #"{"name":"x","other":"\u0000"}"#,
        ])
        #expect(try sample.ids(Query(name == "x")) == ["b", "d"])
        #expect(try sample.ids(Query(name != "x")) == ["a", "c"])
        #expect(try sample.ids(Query(name.in(["x", "y", "z\0"]))) == ["b", "d"])
        #expect(try sample.ids(Query(name.in(["x\0z"]))) == [])
        #expect(try sample.ids(Query(name == "x\0y")) == [])
        #expect(try sample.ids(Query(name == "x\\u0000y")) == ["c"])
        #expect(try sample.ids(Query(name.hasPrefix("x"))) == ["b", "c", "d"])
        #expect(try sample.ids(Query(name.contains("x"))) == ["b", "c", "d"])
        #expect(try sample.ids(Query(name <= "x")) == ["b", "d"])
        #expect(try sample.ids(Query(Field<[String]>("tags").contains("x"))) == ["b"])
    }
}

private enum ISODates: JSONFormat {
    static func configure(_ decoder: JSONDecoder) { decoder.dateDecodingStrategy = .iso8601 }
    static func configure(_ encoder: JSONEncoder) { encoder.dateEncodingStrategy = .iso8601 }
}

/// The place of a value in an order.
private struct SortKey: Comparable {
    private var (rank, number, text) = (0, 0.0, [Unicode.Scalar]())

    init(_ value: JSONText?) {
        guard let value, value.kind != .null else { return }
        if let number = value.number ?? value.bool.map({ $0 ? 1 : 0 }) {
            (rank, self.number) = (1, number)
        } else {
            (rank, text) = (2, Array((value.string ?? String(decoding: value.bytes, as: UTF8.self)).unicodeScalars))
        }
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        return left.number == right.number
            ? left.text.lexicographicallyPrecedes(right.text) : left.number < right.number
    }
}
