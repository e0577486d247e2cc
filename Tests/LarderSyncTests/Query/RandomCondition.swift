import Larder
import LarderSimulation

@testable import LarderSync

/// A condition that is known in two ways: as a query, and as plain Swift.
struct RandomCondition {
    let condition: Query.Condition
    let holds: (JSONText) -> Bool

    static let numbers: [Double] = [-1, 0, 1, 2, 2.5, 0.1, 1e3, 1_234_567_890_123, -7.25e-9]
    static let texts = [
        "", "a", "ab", "abc", "A", "a%", "a_b", "a%b", "axb", "[", "[1]", "{}", "{", "~", "é", "e\u{301}", "\u{D7FF}",
        "\u{E000}",
        "\u{10FFFF}", "\u{10FFFF}a", "1", "true", "null", "'", "\"", "\\", "日本",
    ]
    static let fields: [[String]] = [["n"], ["t"], ["tags"], ["o", "x"], ["it's", "a.b"]]

    init(_ random: inout SeededGenerator, depth: Int = 0) {
        let (path, kind) = (Self.fields[random.roll(Self.fields.count)], random.roll(depth < 4 ? 16 : 11))
        let (number, text) = (Self.numbers[random.roll(Self.numbers.count)], Self.texts[random.roll(Self.texts.count)])
        let pointer = JSONPointer(steps: path)
        let (numbers, texts, bools) = (Field<Double>(pointer), Field<String>(pointer), Field<Bool>(pointer))
        let isTrue = random.roll(2) == 0
        let value = { (record: JSONText) in record[path] }
        let numberOf = { (record: JSONText) in record[path]?.number }
        let textOf = { (record: JSONText) in record[path]?.string.map { Array($0.unicodeScalars) } }
        let scalars = Array(text.unicodeScalars)
        func isLess(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Bool {
            left.lexicographicallyPrecedes(right)
        }
        switch kind {
        case 0: (condition, holds) = (numbers == number, { numberOf($0) == number })
        case 1: (condition, holds) = (texts != text, { textOf($0) != scalars })
        case 2: (condition, holds) = (bools == isTrue, { value($0)?.bool == isTrue })
        case 3:
            switch random.roll(4) {
            case 0: (condition, holds) = (numbers < number, { numberOf($0).map { $0 < number } == true })
            case 1: (condition, holds) = (numbers <= number, { numberOf($0).map { $0 <= number } == true })
            case 2: (condition, holds) = (numbers > number, { numberOf($0).map { $0 > number } == true })
            default: (condition, holds) = (numbers >= number, { numberOf($0).map { $0 >= number } == true })
            }
        case 4:
            switch random.roll(4) {
            case 0: (condition, holds) = (texts < text, { textOf($0).map { isLess($0, scalars) } == true })
            case 1: (condition, holds) = (texts <= text, { textOf($0).map { !isLess(scalars, $0) } == true })
            case 2: (condition, holds) = (texts > text, { textOf($0).map { isLess(scalars, $0) } == true })
            default: (condition, holds) = (texts >= text, { textOf($0).map { !isLess($0, scalars) } == true })
            }
        case 5:
            let list = (0..<random.roll(5)).map { _ in Self.texts[random.roll(Self.texts.count)] }
            let wanted = list.map { Array($0.unicodeScalars) }
            (condition, holds) = (texts.in(list), { textOf($0).map(wanted.contains) == true })
        case 6:
            let list = (0..<random.roll(5)).map { _ in Self.numbers[random.roll(Self.numbers.count)] }
            (condition, holds) = (numbers.in(list), { numberOf($0).map(list.contains) == true })
        case 7:
            let holdsItem = { (record: JSONText) in
                value(record)?.items.contains { $0.string.map { Array($0.unicodeScalars) } == scalars } == true
            }
            (condition, holds) = (Field<[String]>(pointer).contains(text), holdsItem)
        case 8:
            switch random.roll(3) {
            case 0:
                let holdsItem = { (record: JSONText) in value(record)?.items.contains { $0.number == number } == true }
                (condition, holds) = (Field<[Double]>(pointer).contains(number), holdsItem)
            case 1:
                let holdsItem = { (record: JSONText) in value(record)?.items.contains { $0.bool == isTrue } == true }
                (condition, holds) = (Field<[Bool]?>(pointer).contains(isTrue), holdsItem)
            default:
                let holdsItem = { (record: JSONText) in value(record)?.items.contains { $0.kind == .null } == true }
                (condition, holds) = (Field<[Bool?]>(pointer).contains(nil), holdsItem)
            }
        case 9:
            let isPart = { (found: [Unicode.Scalar]) in
                (0...found.count).contains { found[$0...].starts(with: scalars) }
            }
            (condition, holds) = (texts.contains(text), { textOf($0).map(isPart) == true })
        case 10:
            if random.roll(2) == 0 {
                (condition, holds) = (texts.hasPrefix(text), { textOf($0)?.starts(with: scalars) == true })
            } else {
                (condition, holds) = (texts.isNil, { value($0).map { $0.kind == .null } ?? true })
            }
        case 11, 12:
            let (left, right) = (Self(&random, depth: depth + 1), Self(&random, depth: depth + 1))
            (condition, holds) = (left.condition && right.condition, { left.holds($0) && right.holds($0) })
        case 13, 14:
            let (left, right) = (Self(&random, depth: depth + 1), Self(&random, depth: depth + 1))
            (condition, holds) = (left.condition || right.condition, { left.holds($0) || right.holds($0) })
        default:
            let inner = Self(&random, depth: depth + 1)
            (condition, holds) = (!inner.condition, { !inner.holds($0) })
        }
    }
}

extension JSONText {
    /// A record in which each field may be missing or of any kind.
    static func randomRecord(_ random: inout SeededGenerator) -> JSONText {
        RandomCondition.fields.reduce(JSONText.object) { record, path in
            guard random.roll(6) > 0 else { return record }
            return record.setting(path, to: randomValue(&random, isItem: false))
        }
    }

    private static func randomValue(_ random: inout SeededGenerator, isItem: Bool) -> JSONText {
        switch random.roll(isItem ? 12 : 16) {
        case 0: return .null
        case 1, 2: return JSONText(.bool(random.roll(2) == 0))
        case 3, 4, 5, 6: return JSONText(.number(RandomCondition.numbers[random.roll(RandomCondition.numbers.count)]))
        case 12...15:
            return JSONText(list: (0..<random.roll(4)).map { _ in randomValue(&random, isItem: true) })
        case 11: return JSONText.object.setting([["x", "a"][random.roll(2)]], to: JSONText(.int(1)))
        default: return JSONText(string: RandomCondition.texts[random.roll(RandomCondition.texts.count)])
        }
    }
}
