import LarderSystem

/// The notation of durations and sizes in a policy: a whole number with a unit.
package struct UnitNotation: Sendable {
    var noun: String
    var examples: [String]
    /// The name of each unit, and the number of smallest units in it. The smallest unit comes first.
    var units: [(name: String, size: Int64)]
    /// Other words for the units, with the unit that is meant and how many of it.
    var words: [String: (unit: String, count: Int64)] = [:]
    /// The largest amount, and how it is written.
    var most: (amount: Int64, text: String)

    static let duration = UnitNotation(
        noun: "duration", examples: ["250ms", "30s", "5m", "12h", "7d"],
        units: [
            ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000),
        ],
        words: spoken([
            ("ms", 1, "msec msecs millis millisecond milliseconds"), ("s", 1, "sec secs second seconds"),
            ("m", 1, "min mins minute minutes"), ("h", 1, "hr hrs hour hours"), ("d", 1, "day days"),
            ("d", 7, "w week weeks"), ("d", 30, "mo month months"), ("d", 365, "y yr year years"),
        ]), most: (.max, "forever"))
    package static let size = UnitNotation(
        noun: "size", examples: ["64KB", "20MB", "1GB"],
        units: [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)],
        words: spoken([
            ("B", 1, "byte bytes"), ("KB", 1, "k kib kilobytes"), ("MB", 1, "m mi mib megabytes"),
            ("GB", 1, "g gi gib gigabytes"), ("GB", 1_000, "t tb tib terabytes"),
        ]),
        most: (999_999_999_999_999, "999999GB"))

    private static func spoken(
        _ words: [(unit: String, count: Int64, words: String)]
    ) -> [String: (unit: String, count: Int64)] {
        var units: [String: (unit: String, count: Int64)] = [:]
        for (unit, count, words) in words {
            for word in words.split(separator: " ") { units[String(word)] = (unit, count) }
        }
        return units
    }

    var expectation: String {
        "a \(noun) such as " + examples.prefix(2).map { "\"\($0)\"" }.joined(separator: " or ")
    }

    /// The number of digits that is always safe for this unit.
    private func digits(of unit: Int64) -> Int { String(most.amount / unit + 1).count - 1 }

    /// The largest number of this unit that has only digits that are safe.
    private func mostDigits(of unit: Int64) -> Int64 { Int64(String(repeating: "9", count: digits(of: unit))) ?? .max }

    /// Returns the amount of a text such as `5m`, `Int64.max` if it is too large, or nil if the text is not an amount.
    package func amount(_ text: String) -> Int64? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty,
            let unit = units.first(where: { $0.name.utf8.elementsEqual(text.utf8.dropFirst(digits.count)) })
        else {
            return nil
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        if significant.isEmpty { return 0 }
        guard significant.count <= self.digits(of: unit.size), let number = Int64(Substring(significant)) else {
            return .max
        }
        return number * unit.size
    }

    /// Returns the text of an amount, in the largest unit that divides it.
    func text(_ amount: Int64) -> String {
        if amount >= most.amount { return most.text }
        let unit = units.last { amount % $0.size == 0 && (amount != 0 || $0.name == "s" || $0.name == "B") } ?? units[0]
        return "\(amount / unit.size)\(unit.name)"
    }

    /// The JSON Schema of the amounts in a range.
    func schema(of range: ClosedRange<Int64>, or special: String? = nil) -> JSON {
        let choices = [pattern(of: range)] + (special.map { [$0] } ?? [])
        return ["type": "string", "pattern": .string("^(" + choices.joined(separator: "|") + ")$")]
    }

    /// The regular expression of the amounts in a range.
    func pattern(of range: ClosedRange<Int64>) -> String {
        units.compactMap { unit in
            let low = range.lowerBound / unit.size + (range.lowerBound % unit.size == 0 ? 0 : 1)
            let high = min(range.upperBound / unit.size, mostDigits(of: unit.size))
            return WholeNumbers.pattern(from: low, to: high).map { $0 + unit.name }
        }.joined(separator: "|")
    }

    /// Returns the amount of a node, or nil after reporting what is wrong with it.
    func read(_ node: Node, in range: ClosedRange<Int64>, _ reading: PolicyDiagnostics) -> Int64? {
        switch node.content {
        case .string(let text):
            guard let amount = amount(text) else {
                let shown = node.written == nil ? text : ""
                if isNumber(shown) {
                    reportMissingUnit(shown, of: node, in: range, reading)
                } else {
                    reading.report(
                        "this is not a \(noun)", at: node.position, expected: expectation,
                        suggestion: likely(shown, in: range))
                }
                return nil
            }
            guard range.contains(amount), amount != .max else {
                reportOutOfRange(
                    node.written ?? text, isTooSmall: amount < range.lowerBound, of: node, in: range, reading)
                return nil
            }
            return amount
        case .number(_, let text):
            reportMissingUnit(text, of: node, in: range, reading)
            return nil
        default:
            reading.reject(node, expected: expectation)
            return nil
        }
    }

    private func reportOutOfRange(
        _ text: String, isTooSmall: Bool, of node: Node, in range: ClosedRange<Int64>, _ reading: PolicyDiagnostics
    ) {
        let least = self.text(range.lowerBound)
        // The largest amount depends on the unit, because each has a largest number of digits.
        let unit = units.first { text.drop(while: \.isNumber) == $0.name } ?? units[units.count - 1]
        let special = range.upperBound == .max ? ", or \"\(most.text)\"" : ""
        let limits =
            range.upperBound < most.amount
            ? "from \(least) to \(self.text(range.upperBound))"
            : isTooSmall
                ? "of at least \(least)" : "of at most \(self.text(mostDigits(of: unit.size) * unit.size))\(special)"
        reading.report(
            "\(text.prefix(32)) is out of range", at: node.position, expected: "a \(noun) \(limits)")
    }

    /// Reports a number without a unit, with the two most likely spellings.
    private func reportMissingUnit(
        _ number: String, of node: Node, in range: ClosedRange<Int64>, _ reading: PolicyDiagnostics
    ) {
        var spellings = (noun == "duration" ? ["ms", "s"] : ["KB", "MB"]).map { number + $0 }
        // So large a size is one in bytes.
        if noun == "size", let bytes = Int64(number), bytes >= 10_000 { spellings = [text(bytes)] }
        spellings = spellings.filter { amount($0).map(range.contains) == true }
        if Int64(number) == 0, spellings.isEmpty {
            return reportOutOfRange(number, isTooSmall: true, of: node, in: range, reading)
        }
        reading.report(
            "the number \(number.prefix(32)) has no unit", at: node.position,
            expected: isNumber(number) && !spellings.isEmpty
                ? spellings.map { "\"\($0)\"" }.joined(separator: " or ") : expectation)
    }

    /// Whether a text is a number that a unit may follow.
    private func isNumber(_ text: String) -> Bool {
        (1...9).contains(text.utf8.count) && text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }

    /// Returns the text as an amount is written: without spaces and fractions, and with the unit's own name. Returns nil if
    /// that is no amount in the range either.
    private func likely(_ text: String, in range: ClosedRange<Int64>) -> String? {
        guard text.utf8.count <= 32 else { return nil }
        var (rest, amount) = (text.filter { $0 != " " }[...], 0.0)
        // ISO 8601 has durations such as PT5M. Before the T, M stands for months.
        if noun == "duration", rest.hasPrefix("P") {
            if rest.prefix(while: { $0 != "T" }).contains("M") { return nil }
            rest = rest.filter { $0 != "P" && $0 != "T" }[...]
        }
        // Hours, minutes and seconds, as in 00:05:00.
        let clock = rest.split(separator: ":", omittingEmptySubsequences: false)
        if noun == "duration", clock.count == 3 { rest = "\(clock[0])h\(clock[1])m\(clock[2])s" }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." || $0 == "," }
            let word = rest.dropFirst(digits.count).prefix { $0.isLetter }
            rest = rest.dropFirst(digits.count + word.count)
            let (name, count) = words[word.lowercased()] ?? (String(word), 1)
            let unit = units.first { $0.name == name } ?? units.first { $0.name.lowercased() == name.lowercased() }
            guard let unit, let number = Self.number(digits), number < 1_000_000 else { return nil }
            amount += number * Double(count) * Double(unit.size)
        }
        guard amount < Double(most.amount) / 2 else { return nil }
        let whole = Int64((amount / Double(units[0].size)).rounded()) * units[0].size
        return whole > 0 && range.contains(whole) ? self.text(whole) : nil
    }

    /// Returns the number that digits stand for. Returns nil if a comma in them may separate thousands.
    private static func number(_ digits: Substring) -> Double? {
        let parts = digits.split(separator: ",", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[1].count == 3 ? nil : Double(parts.joined(separator: "."))
    }
}

extension SettingType where Value == Duration {
    /// A duration: `"250ms" "30s" "5m" "12h" "7d" "forever"`.
    public static var duration: SettingType<Duration> { duration(.zero ... .forever) }

    /// A duration in a range.
    public static func duration(_ range: ClosedRange<Duration>) -> SettingType<Duration> {
        let quantity = UnitNotation.duration
        let limits = range.lowerBound.nanoseconds...range.upperBound.nanoseconds
        let mayBeForever = range.upperBound >= .forever
        return SettingType(
            "duration", expectation: quantity.expectation,
            schema: quantity.schema(of: limits, or: mayBeForever ? "forever" : nil),
            example: "30s",
            show: { "\"\($0.spelled)\"" },
            read: { node, reading in
                if mayBeForever, node.string == "forever" { return .forever }
                return quantity.read(node, in: limits, reading).map { .nanoseconds($0) }
            }
        ).shownInDumps.shareable()
    }
}

extension SettingType where Value == Range<Duration> {
    /// A span of time: `"2m-5m"`, its end not included.
    public static var window: SettingType<Range<Duration>> {
        let quantity = UnitNotation.duration
        let expectation = "a window such as \"2m-5m\""
        let end = "(\(quantity.pattern(of: 0...(.max))))"
        return SettingType(
            "window", expectation: expectation,
            schema: ["type": "string", "pattern": .string("^\(end)-\(end)$")],
            example: "2m-5m", show: { "\"\($0.lowerBound.spelled)-\($0.upperBound.spelled)\"" },
            read: { node, reading in
                let ends = node.string?.split(separator: "-", omittingEmptySubsequences: false) ?? []
                let amounts = ends.compactMap { quantity.amount(String($0)) }.filter { $0 != .max }
                guard ends.count == 2, amounts.count == 2 else {
                    reading.reject(node, unless: "window", expected: expectation)
                    return nil
                }
                guard amounts[0] < amounts[1] else {
                    reading.report("the window ends before it starts", at: node.position, expected: expectation)
                    return nil
                }
                return .nanoseconds(amounts[0]) ..< .nanoseconds(amounts[1])
            }
        ).shownInDumps.shareable()
    }
}

extension SettingType where Value == Int {
    /// A number of bytes: `"64KB" "20MB" "1GB"`.
    public static var size: SettingType<Int> {
        let limits = 1...UnitNotation.size.most.amount
        return SettingType(
            "size", expectation: UnitNotation.size.expectation, schema: UnitNotation.size.schema(of: limits),
            example: "20MB",
            show: { "\"\(UnitNotation.size.text(Int64($0)))\"" },
            read: { node, reading in UnitNotation.size.read(node, in: limits, reading).map { Int(clamping: $0) } }
        ).shownInDumps.shareable()
    }
}

extension Int {
    /// Makes the number of bytes that a policy spells with this text; nil if the text is no size.
    package init?(spelledSize text: String) {
        guard let amount = UnitNotation.size.amount(text), amount != .max else { return nil }
        self.init(clamping: amount)
    }

    /// The number of bytes as a policy spells it: `64KB`.
    public var spelledSize: String { UnitNotation.size.text(Int64(self)) }
}

extension Duration {
    /// Makes the duration that a policy spells with this text; nil if the text is no duration.
    package init?(spelled text: String) {
        if text == "forever" {
            self = .forever
        } else {
            guard let amount = UnitNotation.duration.amount(text), amount != .max else { return nil }
            self = .nanoseconds(amount)
        }
    }

    /// The duration as a policy spells it: `250ms`, `7d`, `forever`.
    public var spelled: String {
        self >= .forever ? "forever" : UnitNotation.duration.text(nanoseconds / 1_000_000 * 1_000_000)
    }
}
