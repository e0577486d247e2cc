public import Larder

/// The settings of a policy about conflicts.
struct ConflictChoice: Sendable {
    var rule: any ConflictRule
    /// The places of lists whose changes are merged item by item.
    var unions: [[String]]
}

/// The lists that a rule for conflicts merges item by item.
struct MergedLists: Sendable {
    var places: [[String]]
}

extension PluginKind {
    /// A rule for records that the user and somebody else have changed.
    public static let conflict = PluginKind("conflict")
}

extension Plugin {
    private static let union = Setting(
        "union", .list(of: .field), default: [],
        help: "The lists whose changes are merged item by item, so that they never conflict")

    /// A rule for records that the user and somebody else have changed, as a function.
    ///
    /// ```swift
    /// try registry.register(.conflict("scores", "The higher score stays.") { _, mine, theirs in
    ///     let (left, right) = (mine["score"]?.number ?? 0, theirs["score"]?.number ?? 0)
    ///     if left != right { return left > right ? mine : theirs }
    ///     return mine.bytes.lexicographicallyPrecedes(theirs.bytes) ? theirs : mine
    /// })
    /// ```
    ///
    /// It is asked if both sides have changed the same place to different values. It must be pure, and have the same result
    /// whichever side is whose, so that all devices agree. Lists that the setting `union` names are merged item by item first.
    ///
    /// - Parameters:
    ///   - name: the name that policies use.
    ///   - about: its purpose, in one line.
    ///   - merge: returns the record that goes on, from the record before both changes, the user's and the service's. There is no
    ///     `base` if the record was made on both sides. The id and the version stay those of the service. If the result is no
    ///     object, the service's record goes on.
    public static func conflict(
        _ name: String, _ about: String,
        _ merge: @escaping @Sendable (_ base: JSONText?, _ mine: JSONText, _ theirs: JSONText) -> JSONText
    ) -> Plugin { plugin(name, about, for: OwnRule(merge: merge)) }

    /// Merges what both sides have changed; of the same field, the later change stays, or else the service's.
    static let mergeFields = plugin(
        "merge-fields",
        "Merges the changes. Of a field that both changed, the later change stays, or else the service's.",
        for: MergeFields())

    /// The later change stays.
    static let lastWriteWins = Plugin.custom(
        .conflict, "last-write-wins", "The later change stays.",
        Setting(
            "of", .choice(["fields", "record"]), default: "fields",
            help: "What the later change wins: the fields that both changed, or the whole record"),
        union, traits: { _, unions in .with { $0.facts = MergedLists(places: unions) } }
    ) { _, of, unions in
        ConflictChoice(rule: LastWriteWins(isAboutRecords: of == "record"), unions: unions)
    }

    /// The service's value stays.
    static let serverWins = plugin(
        "server-wins", "Of a field that both changed, the service's value stays.", for: ServerWins())

    /// The user's value stays.
    static let clientWins = plugin(
        "client-wins", "Of a field that both changed, the user's value stays, also over a deletion.", for: ClientWins())

    /// The app decides.
    static let askApp = plugin(
        "ask", "The app decides about records that both changed.", for: AskApp())

    private static func plugin(_ name: String, _ about: String, for rule: some ConflictRule) -> Plugin {
        Plugin.custom(
            .conflict, name, about, union, traits: { unions in .with { $0.facts = MergedLists(places: unions) } }
        ) { _, unions in ConflictChoice(rule: rule, unions: unions) }
    }
}
