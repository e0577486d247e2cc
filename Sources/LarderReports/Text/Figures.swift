package import Larder

// The format of figures, the same in every table.

extension Double {
    /// A share: `12.5 %`.
    package var percent: String {
        let tenths = Int((self * 1_000).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) %"
    }
}

extension Duration? {
    /// The duration of a wait: `1.2 s`, `< 1 ms`, or a dash for nil.
    package var waited: String {
        guard let self else { return "–" }
        return self < .milliseconds(1) ? "< 1 ms" : self.rounded.brief
    }

    /// An age: `3 h`, `0 s` up to a millisecond, or a dash for nil.
    package var aged: String {
        guard let self else { return "–" }
        return self <= .milliseconds(1) ? "0 s" : self.rounded.brief
    }

    /// The duration in milliseconds, rounded to microseconds; `null` for nil.
    package var milliseconds: JSON {
        map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000) } ?? .null
    }
}

extension Duration {
    /// The duration rounded to the digits that a short text shows, so that 2.99 s is written as 3 s.
    fileprivate var rounded: Duration {
        let units: [Int64] = [86_400_000, 3_600_000, 60_000, 1_000, 1].map { $0 * 1_000_000 }
        guard self < .seconds(1 << 32), let unit = units.first(where: { nanoseconds >= $0 }) else { return self }
        let step = nanoseconds < unit * 10 ? unit / 10 : unit
        return .nanoseconds((nanoseconds + step / 2) / step * step)
    }
}
