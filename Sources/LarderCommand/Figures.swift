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
        return self < .milliseconds(1) ? "< 1 ms" : self.brief
    }

    /// How old something is: `3 h`, `0 s` for what has just come, or a dash for nothing.
    var aged: String {
        guard let self else { return "–" }
        return self <= .milliseconds(1) ? "0 s" : self.brief
    }

    /// In milliseconds, to the microsecond.
    var milliseconds: JSON {
        map { .number(($0.inSeconds * 1_000_000).rounded() / 1_000) } ?? .null
    }
}
