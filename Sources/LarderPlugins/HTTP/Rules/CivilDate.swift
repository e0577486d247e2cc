import LarderSystem
import LarderCore

/// A date and a second of its day, in the Gregorian calendar and UTC.
struct CivilDate: Hashable {
    var year: Int
    /// The month, from 1.
    var month: Int
    /// The day of the month, from 1.
    var day: Int
    /// The second of the day. It may be one more than the last one, for a leap second.
    var second: Int64

    init(year: Int, month: Int, day: Int, second: Int64) {
        (self.year, self.month, self.day, self.second) = (year, month, day, second)
    }

    /// The date of a time. Parts of a second are left out.
    init(_ time: Timestamp) {
        let seconds = Self.floored(time.nanoseconds, 1_000_000_000)
        let days = Self.floored(seconds, 86_400)
        second = seconds - days * 86_400
        // Years are counted from March, so that the day that may be missing is the last of a year.
        let shifted = Int(days) + 719_468
        let era = Int(Self.floored(Int64(shifted), 146_097))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Whether the calendar has the date.
    var isValid: Bool {
        guard 1...12 ~= month, day >= 1 else { return false }
        let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        return day <= (month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31)
    }

    /// The number of days since the start of 1970. It may be negative.
    private var days: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = Self.floored(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The seconds since the start of 1970. They may be negative.
    var seconds: Int64 { days * 86_400 + second }

    private static func floored(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}
