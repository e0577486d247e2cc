/// A declaration that stands for its name: two with the same name are equal, whatever else they say.
package protocol EqualByName: Hashable {
    var name: String { get }
}

extension EqualByName {
    /// Returns whether both have the same name.
    public static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
