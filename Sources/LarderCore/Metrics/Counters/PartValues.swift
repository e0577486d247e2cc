import LarderSystem

/// The values that one part has set its levels and gauges to. They live as long as the state that they tell of: see
/// ``ReloadState``.
final class PartValues: Sendable {
    private struct State {
        var levels: [Level: String] = [:]
        var gauges: [Gauge: Double] = [:]
    }

    private let state = Locked(State())

    func set(_ level: Level, to value: String) { state.withLock { $0.levels[level] = value } }

    func set(_ gauge: Gauge, to number: Double?) { state.withLock { $0.gauges[gauge] = number } }

    /// The value that a level was set to; nil if it was not.
    subscript(level: Level) -> String? { state.withLock { $0.levels[level] } }

    /// The number that a gauge was set to; nil if it was not.
    subscript(gauge: Gauge) -> Double? { state.withLock { $0.gauges[gauge] } }
}

extension Level {
    /// The value among those that parts have set: of several, the worst; of none, the first.
    func value(in parts: [PartValues]) -> String? {
        let set = Set(parts.compactMap { $0[self] })
        return values.last(where: set.contains) ?? values.first
    }
}

extension Gauge {
    /// The number of all parts together; nil if none has one.
    func value(in parts: [PartValues]) -> Double? {
        parts.compactMap { $0[self] }.reduce(nil) { sum, number in sum.map { combined($0, number) } ?? number }
    }
}
