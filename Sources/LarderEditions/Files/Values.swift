import LarderFoundation
import Larder

/// A name in letters, digits, `.`, `_` and `-`: of a channel, a ring, a salt or a file.
enum PlainName {
    static let expectation = "a name of 1 to 100 letters, digits, '.', '_' and '-' that does not begin with '.'"

    static func isValid(_ text: String) -> Bool {
        !text.hasPrefix(".") && (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// The text of a digest: `sha256:` and 64 lowercase hexadecimal digits.
enum Digest {
    static let expectation = "\"sha256:\" and 64 hexadecimal digits"

    static func isValid(_ text: String) -> Bool {
        text.hasPrefix("sha256:") && text.utf8.count == 71
            && text.utf8.dropFirst(7).allSatisfy(\.isHexadecimal)
    }
}

extension UInt8 {
    /// Whether this is the character of a digit, or of a letter from `a` to `f`.
    var isHexadecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}

/// The numbers of editions and the revisions of channels.
enum CountRange {
    /// Every reader of JSON can hold these whole numbers exactly.
    static let all = 1...9_007_199_254_740_991
}

/// A share of installations.
enum Share {
    static let expectation = "a share such as 0.05 or \"5%\", from 0 to 1"

    /// Reads `0.05` or `"5%"`. Returns nil for anything else.
    static func read(_ value: JSON) -> Double? {
        let share: Double? =
            switch value {
            case .int(let number): Double(number)
            case .number(let number): number
            case .string(let text): percent(text)
            default: nil
            }
        return share.flatMap { (0...1).contains($0) ? $0 : nil }
    }

    private static func percent(_ text: String) -> Double? {
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard text.hasSuffix("%"), text.utf8.count <= 12, (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) })
        else { return nil }
        return Double(text.dropLast()).map { $0 / 100 }
    }

    /// Returns the share in percent: `"5%"`. A share that is no such text is a number.
    static func written(_ share: Double) -> JSON {
        for digits in 0...6 {
            var text = JSON.number((share * 100 * power(digits)).rounded() / power(digits)).text()
            text += "%"
            if percent(text) == share { return .string(text) }
        }
        return .number(share)
    }

    private static func power(_ digits: Int) -> Double { (0..<digits).reduce(1) { result, _ in result * 10 } }
}

extension Timestamp {
    /// Reads `2027-01-31T00:00:00Z`, from 1970 to 2200. Returns nil for anything else.
    init?(utc text: String) {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == pattern.count else { return nil }
        for (byte, wanted) in zip(bytes, pattern) {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard wanted == UInt8(ascii: "0") ? isDigit : byte == wanted else { return nil }
        }
        func number(_ range: Range<Int>) -> Int32 {
            bytes[range].reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) }
        }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (number(0..<4) - 1_900, number(5..<7) - 1, number(8..<10))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (number(11..<13), number(14..<16), number(17..<19))
        guard (70...300).contains(parts.tm_year) else { return nil }
        self.init(seconds: Int64(timegm(&parts)))
        // A date that the calendar does not have became another one.
        guard utc == text else { return nil }
    }

    /// The time in UTC, to the second: `2027-01-31T00:00:00Z`.
    var utc: String {
        var seconds = time_t((nanoseconds - (nanoseconds % 1_000_000_000 < 0 ? 1_000_000_000 : 0)) / 1_000_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
