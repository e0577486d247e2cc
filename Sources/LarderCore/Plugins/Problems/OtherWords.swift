/// Words that people know a plugin or a setting by, from other frameworks. No policy may use them, but messages lead from
/// them to the right name.
struct OtherWords {
    private let words: [String]

    init(_ words: [String]) { self.words = words }

    /// Whether one of the words is written like this, without regard to case, hyphens and underscores.
    func contains(_ word: String) -> Bool {
        guard !words.isEmpty, word.utf8.count <= 64 else { return false }
        let plain = Self.plain(word)
        return words.contains { Self.plain($0) == plain }
    }

    private static func plain(_ word: String) -> String { word.lowercased().filter { $0 != "-" && $0 != "_" } }
}

extension [SettingDeclaration] {
    /// Returns the setting that is also called by a word; nil if there is none.
    func alsoCalled(_ word: String) -> SettingDeclaration? { first { OtherWords($0.words).contains(word) } }

    /// Returns the setting whose name is close to a word; nil if there is none.
    func close(to word: String) -> SettingDeclaration? {
        let name = closestName(to: word, among: map(\.name))
        return first { $0.name == name }
    }
}

extension Registry {
    /// Returns the name of the plugin of a kind that a word most likely means; nil if it means none.
    package func name(meantBy word: String, of kind: PluginKind) -> String? {
        self[kind].first { OtherWords($0.words).contains(word) }?.name
            ?? closestName(to: word, among: self[kind].map(\.name))
    }

    /// Returns a hint at the key that is also called by a word: `the key is 'store'`. Returns nil if there is none.
    func hintAtKey(_ word: String) -> String? {
        members.first { OtherWords($0.words).contains(word) }.map { "the key is '\($0.name)'" }
    }

    /// Returns a hint at the plugin or the setting that a word names: `'timeout' is a wrapper, in 'around'`. Returns
    /// nil if there is none, or if plugins of several kinds have the setting that is meant.
    func hintAtPlugin(_ word: String) -> String? {
        for member in members {
            guard let kind = member.kind, !kind.isSection else { continue }
            if let plugin = self[kind].first(where: { $0.name == word || OtherWords($0.words).contains(word) }) {
                return "'\(plugin.name)' is \(kind.withArticle), in '\(member.name)'"
            }
        }
        let named = settings { $0.name == word }
        if named.count == 1 { return named[0].hint }
        let called = settings { OtherWords($0.words).contains(word) }
        return called.first { setting in called.count { $0.name == setting.name } == 1 }?.hint
    }

    /// Returns the settings that are meant, with hints at them: at most one for each kind of plugins, and none for a
    /// kind whose plugins have several.
    private func settings(where isMeant: (SettingDeclaration) -> Bool) -> [(name: String, hint: String)] {
        var kinds: [PluginKind] = []
        return members.compactMap { member in
            guard let kind = member.kind, !kind.isSection, !kinds.contains(kind) else { return nil }
            kinds.append(kind)
            let found = self[kind].compactMap { plugin in
                plugin.settings.first(where: isMeant).map { ($0.name, plugin) }
            }
            guard let (name, plugin) = found.first, found.allSatisfy({ $0.0 == name }) else { return nil }
            return (name, "'\(name)' is a setting of \(kind) '\(plugin.name)', in '\(member.name)'")
        }
    }
}
