import LarderSystem
import LarderCore

/// Reads the dates of HTTP fields (RFC 9110, section 5.6.7).
enum HTTPDates {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    /// The length of the longest date in any of the three forms.
    private static let capacity = 33

    /// Returns the time that a date names; nil if the text is not a date.
    ///
    /// All three forms of HTTP are read, without regard to case: `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. Any time zone but GMT makes the text invalid.
    ///
    /// - Parameter now: the present. A year of two digits is at most 50 years after it.
    static func parse(_ text: String, now: Timestamp) -> Timestamp? {
        guard text.utf8.count <= capacity + 16 else { return nil }
        let bytes = HTTPText.trimmed(text.utf8.map(HTTPText.lowercased)[...])
        guard bytes.count <= capacity, let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
            return parseC(Scanner(bytes))
        }
        return comma - bytes.startIndex == 3 ? parseFixed(Scanner(bytes)) : parseDashed(Scanner(bytes), now)
    }

    /// Reads `sun, 06 nov 1994 08:49:37 gmt`.
    private static func parseFixed(_ scanner: Scanner) -> Timestamp? {
        var scanner = scanner
        guard scanner.word(of: days) != nil, scanner.text(", "), let day = scanner.number(2), scanner.text(" "),
            let month = scanner.word(of: months), scanner.text(" "), let year = scanner.number(4), scanner.text(" "),
            let second = scanner.time(), scanner.text(" gmt"), scanner.isAtEnd
        else { return nil }
        return time(year, month: month + 1, day: day, second: second)
    }

    /// Reads `sunday, 06-nov-94 08:49:37 gmt`.
    private static func parseDashed(_ scanner: Scanner, _ now: Timestamp) -> Timestamp? {
        var scanner = scanner
        guard scanner.word(of: longDays) != nil, scanner.text(", "), let day = scanner.number(2), scanner.text("-"),
            let month = scanner.word(of: months), scanner.text("-"), let digits = scanner.number(2), scanner.text(" "),
            let second = scanner.time(), scanner.text(" gmt"), scanner.isAtEnd
        else { return nil }
        let present = CivilDate(now).year
        // The latest year with these digits that is at most 50 years away. A date in that very year may still be
        // later than that.
        var year = present + 50 - (present + 50 - digits) % 100
        let today = CivilDate(now)
        let isLater =
            (month + 1, day) > (today.month, today.day)
            || (month + 1, day) == (today.month, today.day)
                && Int64(second) > today.second
        if year == present + 50, isLater { year -= 100 }
        return time(year, month: month + 1, day: day, second: second)
    }

    /// Reads `sun nov  6 08:49:37 1994`.
    private static func parseC(_ scanner: Scanner) -> Timestamp? {
        var scanner = scanner
        guard scanner.word(of: days) != nil, scanner.text(" "), let month = scanner.word(of: months),
            scanner.text(" "), let day = scanner.text(" ") ? scanner.number(1) : scanner.number(2), scanner.text(" "),
            let second = scanner.time(), scanner.text(" "), let year = scanner.number(4), scanner.isAtEnd
        else { return nil }
        return time(year, month: month + 1, day: day, second: second)
    }

    private static func time(_ year: Int, month: Int, day: Int, second: Int) -> Timestamp? {
        CivilDate(year: year, month: month, day: day, second: Int64(second)).seconds.map { Timestamp(seconds: $0) }
    }
}

extension HTTPDates {
    /// Reads the parts of a date from lower-case ASCII.
    private struct Scanner {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        var isAtEnd: Bool { rest.isEmpty }

        /// Reads this text, and returns whether it is there.
        mutating func text(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }

        /// Reads one of these words and returns its position among them.
        mutating func word(of words: [String]) -> Int? {
            for (position, word) in words.enumerated() where text(word) { return position }
            return nil
        }

        /// Reads a number with exactly this many digits.
        mutating func number(_ digits: Int) -> Int? {
            let found = rest.prefix(digits)
            guard found.count == digits else { return nil }
            var number = 0
            for byte in found {
                guard let digit = HTTPText.digit(byte) else { return nil }
                number = number * 10 + digit
            }
            rest = rest.dropFirst(digits)
            return number
        }

        /// Reads `08:49:37` and returns the second of the day. A leap second is read as the first second after it.
        mutating func time() -> Int? {
            guard let hour = number(2), text(":"), let minute = number(2), text(":"), let second = number(2),
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return hour * 3_600 + minute * 60 + second
        }
    }
}
