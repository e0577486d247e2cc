import LarderSystem
@testable import LarderPlugins

extension HTTPDates {
    /// Returns the date of a time in the preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`. Parts of a second are left out.
    static func text(_ time: Timestamp) -> String {
        let date = CivilDate(time)
        let day = ((date.seconds ?? 0) - date.second) / 86_400
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [date.second / 3_600, date.second / 60 % 60, date.second % 60].map { padded(Int($0), 2) }
        return "\(days[Int((day % 7 + 11) % 7)]), \(padded(date.day, 2)) \(months[date.month - 1]) "
            + "\(padded(date.year, 4)) \(clock.joined(separator: ":")) GMT"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
