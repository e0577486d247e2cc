import Larder

/// The place of the time of a record's last change.
struct StampPlace: Hashable, Sendable {
    var path: [String]
    var format: StampFormat

    /// Returns the time in a record, in milliseconds since 1970; nil if there is none.
    func time(of record: JSONText?) -> Int64? { record?[path].flatMap(format.time) }
}

/// The ways to write a time in JSON.
enum StampFormat: String, Sendable, Hashable, CaseIterable {
    /// `"2026-05-01T10:00:00Z"`
    case iso8601
    /// `"2026-05-01T10:00:00.000Z"`
    case iso8601Milliseconds = "iso8601-milliseconds"
    /// Whole seconds since 1970.
    case seconds
    /// Whole milliseconds since 1970.
    case milliseconds

    /// The shortest difference between two times, in milliseconds.
    var unit: Int64 { self == .iso8601 || self == .seconds ? 1_000 : 1 }

    /// The times that can be written: the years 1 to 9999.
    private static let range = Int64(-62_135_596_800_000)...253_402_300_799_999

    /// Reads a time, in milliseconds since 1970. Returns nil if the value is none in this format.
    func time(_ value: JSONText) -> Int64? {
        let time: Int64?
        switch self {
        case .iso8601, .iso8601Milliseconds: time = value.string.flatMap(Self.parsed)
        case .seconds:
            time = value.number.flatMap { abs($0) < 1e12 ? Int64(($0 * 1_000).rounded(.down)) : nil }
        case .milliseconds: time = value.number.flatMap { abs($0) < 1e15 ? Int64($0.rounded(.down)) : nil }
        }
        return time.flatMap { Self.range.contains($0) ? $0 : nil }
    }

    /// Writes a time.
    func text(_ time: Int64) -> JSONText {
        let time = min(max(time, Self.range.lowerBound), Self.range.upperBound)
        switch self {
        case .seconds: return JSONText(integer: time.dividedDown(by: 1_000))
        case .milliseconds: return JSONText(integer: time)
        case .iso8601: return JSONText(string: Self.written(time, withFraction: false))
        case .iso8601Milliseconds: return JSONText(string: Self.written(time, withFraction: true))
        }
    }

    /// Returns a time as precisely as it is written, so that all devices compare the same.
    func rounded(_ time: Int64) -> Int64 { self.time(text(time)) ?? time }

    private static func written(_ time: Int64, withFraction: Bool) -> String {
        let seconds = time.dividedDown(by: 1_000)
        let day = seconds.dividedDown(by: 86_400)
        let (ofDay, date) = (seconds - day * 86_400, CivilDate(day: day))
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let fraction = withFraction ? "." + digits(time - seconds * 1_000, 3) : ""
        return "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.dayOfMonth, 2))"
            + "T\(digits(ofDay / 3_600, 2)):\(digits(ofDay / 60 % 60, 2)):\(digits(ofDay % 60, 2))\(fraction)Z"
    }

    private static func parsed(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int64(String(decoding: bytes[range], as: UTF8.self))
        }
        func isAt(_ place: Int, _ characters: String) -> Bool {
            place < bytes.count && characters.utf8.contains(bytes[place])
        }
        guard bytes.count >= 20, isAt(4, "-"), isAt(7, "-"), isAt(10, "Tt "), isAt(13, ":"), isAt(16, ":"),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), hour < 24, minute < 60, second <= 60,
            let date = CivilDate(year: year, month: month, dayOfMonth: day)
        else { return nil }
        var (place, milliseconds) = (19, Int64(0))
        if isAt(place, ".,") {
            let start = place + 1
            place = start
            while place < bytes.count, (0x30...0x39).contains(bytes[place]) { place += 1 }
            if place == start { return nil }
            for offset in 0..<3 {
                milliseconds = milliseconds * 10 + (start + offset < place ? Int64(bytes[start + offset] - 0x30) : 0)
            }
        }
        var shift: Int64 = 0
        if isAt(place, "Zz"), place + 1 == bytes.count {
        } else if isAt(place, "+-"), isAt(place + 3, ":"), place + 6 == bytes.count,
            let hours = number((place + 1)..<(place + 3)), let minutes = number((place + 4)..<(place + 6)),
            hours < 24, minutes < 60
        {
            shift = (hours * 60 + minutes) * (bytes[place] == UInt8(ascii: "-") ? -60 : 60)
        } else {
            return nil
        }
        let seconds = date.day * 86_400 + hour * 3_600 + minute * 60 + second - shift
        return seconds * 1_000 + milliseconds
    }
}

/// A date of the Gregorian calendar, and its number of days since 1970.
private struct CivilDate {
    var (year, month, dayOfMonth): (Int64, Int64, Int64)
    var day: Int64

    init?(year: Int64, month: Int64, dayOfMonth: Int64) {
        guard (1...12).contains(month), (1...31).contains(dayOfMonth) else { return nil }
        // Years begin in March, so that a leap day is the last day of its year.
        let shifted = month <= 2 ? year - 1 : year
        let (era, monthOfYear) = (shifted.dividedDown(by: 400), (month + 9) % 12)
        let (ofEra, ofYear) = (shifted - era * 400, (153 * monthOfYear + 2) / 5 + dayOfMonth - 1)
        day = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        (self.year, self.month, self.dayOfMonth) = (year, month, dayOfMonth)
        let checked = CivilDate(day: day)
        if checked.month != month || checked.dayOfMonth != dayOfMonth { return nil }
    }

    init(day: Int64) {
        self.day = day
        let shifted = day + 719_468
        let era = shifted.dividedDown(by: 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        dayOfMonth = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}

extension Int64 {
    /// Returns the quotient, rounded down.
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
