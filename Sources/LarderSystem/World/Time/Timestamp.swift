/// A point in wall time with a precision of one nanosecond.
///
/// Arithmetic saturates: a result outside the years 1677 to 2262 becomes the nearest moment that can be expressed.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public var nanoseconds: Int64

    /// Makes the moment `nanoseconds` after the start of 1970, UTC.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Makes the moment `seconds` after the start of 1970, UTC.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Returns whether `left` comes before `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the time from `right` to `left`, which is negative if `left` comes first.
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        .nanoseconds(left.nanoseconds(since: right))
    }

    /// Returns the nanoseconds from `other` to this moment.
    @inlinable
    public func nanoseconds(since other: Timestamp) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return overflow ? (self > other ? .max : .min) : difference
    }

    /// Returns the moment `right` after `left`.
    public static func + (left: Timestamp, right: Duration) -> Timestamp {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        return Timestamp(nanoseconds: overflow ? (right < .zero ? .min : .max) : sum)
    }

    /// Returns the moment `right` before `left`.
    public static func - (left: Timestamp, right: Duration) -> Timestamp {
        left + (Duration.zero - right)
    }
}

extension Duration {
    /// The longest duration in use, about 292 years. A policy spells it `"forever"`.
    public static var forever: Duration { .nanoseconds(Int64.max) }

    /// The whole nanoseconds in this duration, at most about 292 years.
    public var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// This duration in seconds, as a floating-point number.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// Returns this duration times `factor`, at most ``forever`` and never below zero.
    public func scaled(by factor: Double) -> Duration {
        let seconds = inSeconds * factor
        guard seconds < Duration.forever.inSeconds else { return .forever }
        return seconds > 0 ? .seconds(seconds) : .zero
    }

    /// A short text for people: `800 ms`, `1.5 s`, `3 h`, `7 d`, `forever`.
    public var brief: String {
        if self >= .forever { return "forever" }
        if self < .zero { return "-" + (.zero - self).brief }
        let total = nanoseconds
        for (unit, size) in Self.units where total >= size {
            let tenths = (total / (size / 10))
            let whole = tenths / 10
            return whole >= 10 || tenths % 10 == 0 ? "\(whole) \(unit)" : "\(whole).\(tenths % 10) \(unit)"
        }
        return total == 0 ? "0 s" : "\(total) ns"
    }

    private static let units: [(String, Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("µs", 1_000),
    ]
}
