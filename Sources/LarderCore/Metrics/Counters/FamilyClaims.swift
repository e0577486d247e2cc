/// The text format families that are taken, each by the counter or level that is written as it.
///
/// Names can meet: `bytes_read` and `read_bytes` are one family, and so are the counter `mood_angry` and the level `mood` at
/// `angry`. A text in which a family stands twice is refused by those who read it.
struct FamilyClaims {
    private var owners: [String: String] = [:]

    /// Takes the family of a counter. Fails if another counter or a level has it.
    mutating func claim(_ counter: Counter) -> Bool {
        claim([counter.family.name], for: "counter \(counter.name): \(counter.help)")
    }

    /// Takes the families of a level. Fails if a counter or another level has one of them.
    mutating func claim(_ level: Level) -> Bool {
        // The name alone is taken too, because levels of one name are equal.
        claim(
            ["level " + level.name] + level.families.map(\.name),
            for: "level \(level.name) \(level.values): \(level.help)")
    }

    private mutating func claim(_ families: [String], for owner: String) -> Bool {
        guard families.allSatisfy({ (owners[$0] ?? owner) == owner }) else { return false }
        for family in families { owners[family] = owner }
        return true
    }
}
