package import LarderSystem

// Days and times as text, always in UTC.

extension Timestamp {
    /// The number of days since the beginning of 1970, and the minute of the day.
    private var parts: (day: Int64, minute: Int64) {
        let minutes = (nanoseconds / 60_000_000_000) - (nanoseconds % 60_000_000_000 < 0 ? 1 : 0)
        let day = (minutes - ((minutes % 1_440) + 1_440) % 1_440) / 1_440
        return (day, minutes - day * 1_440)
    }

    /// `2026-01-05`.
    var date: String {
        // Years are counted from March, so that a leap day is the last of its year.
        let days = parts.day + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civil = month < 10 ? month + 3 : month - 9
        return "\(year + era * 400 + (civil <= 2 ? 1 : 0))-\(civil.two)-\(day.two)"
    }

    /// `14:05`.
    var time: String { "\((parts.minute / 60).two):\((parts.minute % 60).two)" }

    /// `Monday`.
    var weekday: String {
        let names = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        return names[Int(((parts.day % 7) + 7) % 7)]
    }

    /// `2026-01-05 14:05 UTC`.
    package var spelled: String { "\(date) \(time) UTC" }
}

extension Timestamp? {
    /// `Monday 2026-01-05 14:00–14:20`.
    func spelled(to end: Timestamp?) -> String {
        guard let start = self, let end else { return "" }
        let to = end.date == start.date ? end.time : "\(end.date) \(end.time)"
        return "\(start.weekday) \(start.date) \(start.time)–\(to)"
    }
}

extension Int64 {
    fileprivate var two: String { self < 10 ? "0\(self)" : "\(self)" }
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
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        self.init(seconds: days * 86_400 + seconds)
        if date != text.prefix(10) { return nil }
    }
}
