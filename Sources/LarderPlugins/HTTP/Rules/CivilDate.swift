import LarderFoundation
import LarderSystem

/// A date and a second of its day, in the Gregorian calendar and UTC.
struct CivilDate: Hashable {
    var year: Int
    /// The month, from 1.
    var month: Int
    /// The day of the month, from 1.
    var day: Int
    /// The second of the day. It may be one more than the last one, for a leap second.
    var second: Int64

    /// The seconds since the start of 1970, which may be negative; nil if the calendar does not have the date.
    var seconds: Int64? {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1_900), Int32(month - 1), Int32(day))
        let start = timegm(&parts)
        // A day that its month does not have becomes one of the next month.
        return (Int(parts.tm_mon), Int(parts.tm_mday)) == (month - 1, day) ? Int64(start) + second : nil
    }
}

extension CivilDate {
    /// The date of a time. Parts of a second are left out.
    init(_ time: Timestamp) {
        let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var start = time_t(rest < 0 ? seconds - 1 : seconds)
        var parts = tm()
        gmtime_r(&start, &parts)
        self.init(
            year: Int(parts.tm_year) + 1_900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            second: Int64(parts.tm_hour * 3_600 + parts.tm_min * 60 + parts.tm_sec))
    }
}
