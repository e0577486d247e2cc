import LarderSystem

/// The values that one part has set its levels to. They live as long as the state that they tell of: see ``ReloadState``.
final class PartLevels: Sendable {
    private let values = Locked<[Level: String]>([:])

    func set(_ level: Level, to value: String) { values.withLock { $0[level] = value } }

    /// The value that a level was set to; nil if it was not.
    subscript(level: Level) -> String? { values.withLock { $0[level] } }
}

extension Level {
    /// The value among those that parts have set: of several, the worst; of none, the first.
    func value(in parts: [PartLevels]) -> String? {
        let set = Set(parts.compactMap { $0[self] })
        return values.last(where: set.contains) ?? values.first
    }
}
