import Larder

// How figures are written: the same in every table.

extension Double {
    /// A share: `12.5 %`.
    var percent: String {
        let tenths = Int((self * 1_000).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) %"
    }
}

extension Duration? {
    /// How long somebody waited: `1.2 s`, `< 1 ms`, or a dash for nobody.
    var waited: String {
        guard let self else { return "–" }
        return self < .milliseconds(1) ? "< 1 ms" : self.rounded.brief
    }

    /// How old something is: `3 h`, `0 s` for what has just come, or a dash for nothing.
    var aged: String {
        guard let self else { return "–" }
        return self <= .milliseconds(1) ? "0 s" : self.rounded.brief
    }

    /// In milliseconds, to the microsecond.
    var milliseconds: JSON {
        map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000) } ?? .null
    }
}

extension Duration {
    /// To what a short text shows of it, so that nearly 3 s is not written as 2.9 s.
    fileprivate var rounded: Duration {
        let units: [Int64] = [86_400_000, 3_600_000, 60_000, 1_000, 1].map { $0 * 1_000_000 }
        guard self < .seconds(1 << 32), let unit = units.first(where: { nanoseconds >= $0 }) else { return self }
        let step = nanoseconds < unit * 10 ? unit / 10 : unit
        return .nanoseconds((nanoseconds + step / 2) / step * step)
    }
}
