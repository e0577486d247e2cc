import LarderFoundation
package import LarderSystem

// Days and times as text, always in UTC.

extension Timestamp {
    /// The parts of the time.
    var parts: tm {
        var seconds = time_t(nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return parts
    }

    /// `2026-01-05`.
    var date: String { "\(parts.tm_year + 1_900)-\((parts.tm_mon + 1).two)-\(parts.tm_mday.two)" }

    /// `14:05`.
    var time: String { "\(parts.tm_hour.two):\(parts.tm_min.two)" }

    /// `Monday`.
    var weekday: String {
        let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        return names[Int(parts.tm_wday)]
    }

    /// `2026-01-05 14:05 UTC`.
    package var spelled: String { "\(date) \(time) UTC" }

    /// `2026-01-05 14:05:09 UTC`.
    package var spelledToSecond: String { "\(date) \(clock) UTC" }

    /// `14:05:09`.
    var clock: String { "\(time):\(parts.tm_sec.two)" }
}

extension Timestamp? {
    /// `Monday 2026-01-05 14:00–14:20`.
    func spelled(to end: Timestamp?) -> String {
        guard let start = self, let end else { return "" }
        let to = end.date == start.date ? end.time : "\(end.date) \(end.time)"
        return "\(start.weekday) \(start.date) \(start.time)–\(to)"
    }
}

extension Int32 {
    var two: String { self < 10 ? "0\(self)" : "\(self)" }
}

extension Timestamp {
    /// Reads `2026-01-05`, `2026-01-05T14:00` or `2026-01-05 14:00:30Z`; nil for anything else.
    package init?(spelled text: String) {
        var digits = text.hasSuffix("Z") ? text.dropLast() : text[...]
        func number(_ count: Int) -> Int64? {
            let part = digits.prefix(count)
            guard part.utf8.count == count, part.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
            digits = digits.dropFirst(count)
            return Int64(part)
        }
        func skip(_ characters: String) -> Bool {
            guard let first = digits.first, characters.contains(first) else { return false }
            digits = digits.dropFirst()
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds: Int64 = 0
        if !digits.isEmpty {
            guard skip("T "), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60
            else { return nil }
            seconds = hour * 3_600 + minute * 60
            if skip(":") {
                guard let second = number(2), second < 60 else { return nil }
                seconds += second
            }
        }
        guard digits.isEmpty else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year) - 1_900, Int32(month) - 1, Int32(day))
        self.init(seconds: Int64(timegm(&parts)) + seconds)
        if date != text.prefix(10) { return nil }
    }
}
