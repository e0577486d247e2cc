/// Makes regular expressions that match a range of whole numbers, so that a schema accepts the same range as the
/// reader.
enum WholeNumbers {
    /// Returns the pattern of the numbers from `low` to `high`, with any number of leading zeros. Returns nil if the
    /// range is empty or negative.
    static func pattern(from low: Int64, to high: Int64) -> String? {
        guard 0 <= low, low <= high else { return nil }
        var choices: [String] = []
        var whole: ClosedRange<Int>?
        for digits in String(low).count...String(high).count {
            let first = digits == String(low).count ? String(low) : "1" + String(repeating: "0", count: digits - 1)
            let last = digits == String(high).count ? String(high) : String(repeating: "9", count: digits)
            // Leading zeros are allowed, so the numbers of one digit begin with 0.
            let isWhole = (first.allSatisfy { $0 == "0" } || isLeast(first)) && isMost(last)
            if isWhole {
                whole = (whole?.lowerBound ?? digits)...digits
            } else {
                choices += patterns(Array(first), Array(last))
            }
        }
        if let whole {
            let first = low == 0 ? "" : "[1-9]"
            let others = low == 0 ? (1, whole.upperBound) : (whole.lowerBound - 1, whole.upperBound - 1)
            choices.append(first + "[0-9]{\(others.0),\(others.1)}")
        }
        return "0*" + (choices.count == 1 ? choices[0] : "(" + choices.joined(separator: "|") + ")")
    }

    private static func isLeast(_ number: String) -> Bool {
        number.first == "1" && number.dropFirst().allSatisfy { $0 == "0" }
    }

    private static func isMost(_ number: String) -> Bool { number.allSatisfy { $0 == "9" } }

    /// Returns the patterns of the numbers between two numbers that have the same count of digits.
    private static func patterns(_ low: [Character], _ high: [Character]) -> [String] {
        guard let first = low.first?.wholeNumberValue, let last = high.first?.wholeNumberValue else { return [""] }
        let lower = Array(low.dropFirst())
        let upper = Array(high.dropFirst())
        let any = lower.isEmpty ? "" : "[0-9]{\(lower.count)}"
        if lower.allSatisfy({ $0 == "0" }), upper.allSatisfy({ $0 == "9" }) { return ["[\(first)-\(last)]" + any] }
        if first == last { return patterns(lower, upper).map { "\(first)" + $0 } }
        let zeros = [Character](repeating: "0", count: lower.count)
        let nines = [Character](repeating: "9", count: lower.count)
        var choices = patterns(lower, nines).map { "\(first)" + $0 }
        if first + 1 < last { choices.append("[\(first + 1)-\(last - 1)]" + any) }
        choices += patterns(zeros, upper).map { "\(last)" + $0 }
        return choices
    }
}
