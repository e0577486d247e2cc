import Larder

extension [Duration?] {
    /// The lifetimes that an origin may state: "no lifetime", "no lifetime, 1m or 1d", "a lifetime of 5m".
    package var inWords: String {
        let words = (contains(nil) ? ["no lifetime"] : []) + compactMap { $0?.inWords }
        let list = words.dropLast().joined(separator: ", ") + (words.count > 1 ? " or " : "") + (words.last ?? "")
        return (contains(nil) ? "" : "a lifetime of ") + list
    }
}

extension Duration {
    /// The time to the millisecond, for sentences: `6h 4m 59.999s`.
    package var inWords: String {
        if self < .zero { return "-" + (.zero - self).inWords }
        let milliseconds = nanoseconds / 1_000_000
        if self >= .forever { return "forever" }
        if milliseconds < 1_000 { return milliseconds == 0 ? "0s" : "\(milliseconds)ms" }
        var seconds = milliseconds / 1_000
        let units: [(String, Int64)] = [("d", 86_400), ("h", 3_600), ("m", 60)]
        var parts: [String] = []
        for (name, size) in units {
            if seconds >= size { parts.append("\(seconds / size)\(name)") }
            seconds %= size
        }
        let rest = milliseconds % 1_000
        var digits = rest == 0 ? "" : "." + String(1_000 + rest).dropFirst()
        while digits.hasSuffix("0") { digits.removeLast() }
        if seconds > 0 || rest > 0 { parts.append("\(seconds)\(digits)s") }
        return parts.joined(separator: " ")
    }

    /// The time in the middle of this one and a longer one, in whole milliseconds.
    func middle(to longer: Duration) -> Duration { self + .milliseconds((longer - self).nanoseconds / 2_000_000) }
}
