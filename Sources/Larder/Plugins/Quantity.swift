/// A whole number with a unit: how durations and sizes are written in a policy.
struct Quantity: Sendable {
    var noun: String
    var examples: [String]
    /// Each unit's name and how many of the smallest it holds, the smallest first.
    var units: [(name: String, size: Int64)]

    static let duration = Quantity(
        noun: "duration", examples: ["250ms", "30s", "5m", "12h", "7d"],
        units: [
            ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000),
        ])
    static let size = Quantity(
        noun: "size", examples: ["64KB", "20MB", "1GB"],
        units: [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)])

    var expectation: String {
        "a \(noun) such as " + examples.prefix(2).map { "\"\($0)\"" }.joined(separator: " or ")
    }

    /// What a text of digits and a unit amounts to; nil if it is none, or more than can be counted.
    func amount(_ text: String) -> Int64? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count <= 12, let number = Int64(Substring(digits)),
            let unit = units.first(where: { $0.name == text.dropFirst(digits.count) })
        else { return nil }
        let (amount, overflow) = number.multipliedReportingOverflow(by: unit.size)
        return overflow ? nil : amount
    }

    /// How an amount is written: in the largest unit that divides it.
    func text(_ amount: Int64) -> String {
        if amount == .max { return "forever" }
        let unit = units.last { amount % $0.size == 0 && (amount != 0 || $0.name == "s" || $0.name == "B") } ?? units[0]
        return "\(amount / unit.size)\(unit.name)"
    }

    /// The schema of amounts; of those above nothing, if `isPositive`.
    func schema(isPositive: Bool, or special: String? = nil) -> JSON {
        let names = units.map(\.name).joined(separator: "|")
        let nonzero = isPositive ? "(?!0+[A-Za-z])" : ""
        return [
            "type": "string",
            "pattern": .string("^(\(nonzero)[0-9]{1,12}(\(names))\(special.map { "|" + $0 } ?? ""))$"),
        ]
    }

    /// The amount a node stands for, or nil after reporting what is wrong with it.
    func read(_ node: Node, in range: ClosedRange<Int64>, _ reading: Reading) -> Int64? {
        switch node.content {
        case .string(let text):
            guard let amount = amount(text) else {
                reading.report("this is no \(noun)", at: node.place, expected: expectation)
                return nil
            }
            guard range.contains(amount) else {
                reading.report(
                    "\(self.text(amount)) is out of range", at: node.place,
                    expected: "a \(noun) from \(self.text(range.lowerBound)) to \(self.text(range.upperBound))")
                return nil
            }
            return amount
        case .number(_, let text):
            // The two spellings that were likely meant, if they are spellings.
            let likely = (noun == "duration" ? ["ms", "s"] : ["KB", "MB"]).map { text + $0 }
            let expected = likely.map { "\"\($0)\"" }.joined(separator: " or ")
            let areSound = likely.allSatisfy { amount($0) != nil }
            reading.report(
                "the number \(text.prefix(32)) has no unit", at: node.place,
                expected: areSound ? expected : expectation)
            return nil
        default:
            reading.reject(node, expected: expectation)
            return nil
        }
    }
}

extension SettingType where Value == Duration {
    /// A duration: `"250ms" "30s" "5m" "12h" "7d" "forever"`.
    public static var duration: SettingType<Duration> { duration(.zero ... .forever) }

    /// A duration within limits.
    public static func duration(_ range: ClosedRange<Duration>) -> SettingType<Duration> {
        let quantity = Quantity.duration
        let limits = range.lowerBound.nanoseconds...range.upperBound.nanoseconds
        let mayBeForever = range.upperBound >= .forever
        return SettingType(
            "duration", expectation: quantity.expectation,
            schema: quantity.schema(isPositive: range.lowerBound > .zero, or: mayBeForever ? "forever" : nil),
            example: "30s",
            show: { "\"\($0.spelled)\"" },
            read: { node, reading in
                if mayBeForever, node.string == "forever" { return .forever }
                return quantity.read(node, in: limits, reading).map { .nanoseconds($0) }
            })
    }
}

extension SettingType where Value == Range<Duration> {
    /// A stretch of time: `"2m-5m"`, its end not included.
    public static var window: SettingType<Range<Duration>> {
        let quantity = Quantity.duration
        let expectation = "a window such as \"2m-5m\""
        return SettingType(
            "window", expectation: expectation,
            schema: ["type": "string", "pattern": "^[0-9]{1,12}(ms|s|m|h|d)-[0-9]{1,12}(ms|s|m|h|d)$"],
            example: "2m-5m", show: { "\"\($0.lowerBound.spelled)-\($0.upperBound.spelled)\"" },
            read: { node, reading in
                let ends = node.string?.split(separator: "-", omittingEmptySubsequences: false) ?? []
                let amounts = ends.compactMap { quantity.amount(String($0)) }
                guard ends.count == 2, amounts.count == 2 else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard amounts[0] < amounts[1] else {
                    reading.report("the window ends before it starts", at: node.place, expected: expectation)
                    return nil
                }
                return .nanoseconds(amounts[0]) ..< .nanoseconds(amounts[1])
            })
    }
}

extension SettingType where Value == Int {
    /// A number of bytes: `"64KB" "20MB" "1GB"`.
    public static var size: SettingType<Int> {
        SettingType(
            "size", expectation: Quantity.size.expectation, schema: Quantity.size.schema(isPositive: true),
            example: "20MB",
            show: { "\"\(Quantity.size.text(Int64($0)))\"" },
            read: { node, reading in Quantity.size.read(node, in: 1...(1 << 50), reading).map { Int($0) } })
    }
}

extension Duration {
    /// The duration a policy would mean by this text; nil if it is none.
    public init?(spelled text: String) {
        if text == "forever" {
            self = .forever
        } else {
            guard let amount = Quantity.duration.amount(text) else { return nil }
            self = .nanoseconds(amount)
        }
    }

    /// As a policy spells it: `250ms`, `7d`, `forever`.
    public var spelled: String {
        self >= .forever ? "forever" : Quantity.duration.text(nanoseconds / 1_000_000 * 1_000_000)
    }
}
