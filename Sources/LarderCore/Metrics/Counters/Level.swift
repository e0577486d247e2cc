/// A state of a plugin with a small number of values, such as the state of a breaker.
///
/// A plugin declares a level like a ``Counter``, lists it when the plugin is created, and reports each change with
/// ``Context/set(_:to:)-(Level,_)``. Before the first change, the level has its first value.
///
/// ```swift
/// extension Level {
///     static let mood = Level("mood", "How it feels", values: ["calm", "angry"])
/// }
///
/// Plugin.wrapper("moody", "Counts on its luck.", levels: [.mood]) { context, inner in … }
/// ```
///
/// A dump has the level as a member of the resource. A report has the number of processes at each value. The text
/// formats have a gauge for each value except the first, such as `larder_mood_angry`. The gauge is 1 while the level
/// has that value. Levels with the same name are equal.
public struct Level: Hashable, Sendable, PluginMetric {
    package static let kind = "level"

    /// The name in dumps: `mood`.
    public let name: String
    /// A description, in one line.
    package let help: String
    /// The possible values. The usual value comes first and the worst last.
    package let values: [String]

    /// Creates a level of a plugin.
    ///
    /// - Parameters:
    ///   - name: lowercase words joined by underscores, without digits, at most 64 characters.
    ///   - help: a description, in one line.
    ///   - values: the possible values: at least two and at most sixteen lowercase words, which may be joined by
    ///     hyphens. The usual value comes first and the worst last.
    public init(_ name: String, _ help: String, values: [String]) {
        self.name = name
        self.help = help
        self.values = values
    }
}

extension Level {
    /// Returns this level with the values of another declaration of it too. The declaration with more values decides their
    /// order. Values that it lacks come last.
    package func united(with other: Level) -> Level {
        let (most, rest) = other.values.count > values.count ? (other, self) : (self, other)
        let missing = rest.values.filter { !most.values.contains($0) }
        return missing.isEmpty ? most : Level(most.name, most.help, values: most.values + missing)
    }
}
