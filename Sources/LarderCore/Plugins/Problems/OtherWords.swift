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

extension Plugin {
    /// Returns the name of the setting that a word most likely means; nil if it means none.
    func setting(meantBy word: String) -> String? {
        settings.first { OtherWords($0.words).contains(word) }?.name ?? closestName(to: word, among: names)
    }
}

extension Registry {
    /// Returns the place in a policy where a word belongs: `; 'timeout' is a wrapper, in 'around'`. It is that of a key, else
    /// of a plugin, else of a setting. Returns an empty text if there is none, or if plugins of several kinds have a setting
    /// of that name.
    func place(of word: String) -> String {
        if let member = members.first(where: { OtherWords($0.words).contains(word) }) {
            return "; the key is '\(member.name)'"
        }
        for member in members {
            guard let kind = member.kind, !kind.isSection else { continue }
            if let plugin = self[kind].first(where: { $0.name == word || OtherWords($0.words).contains(word) }) {
                return "; '\(plugin.name)' is \(kind.withArticle), in '\(member.name)'"
            }
        }
        // Several plugins have settings of one name, so that name tells a place only if one kind has it.
        let named = places { $0.name == word }
        return named.count == 1 ? named[0] : places { OtherWords($0.words).contains(word) }.first ?? ""
    }

    /// Returns the places of the settings that are meant, at most one for each kind of plugins.
    private func places(where isMeant: (SettingDeclaration) -> Bool) -> [String] {
        var kinds: [PluginKind] = []
        return members.compactMap { member in
            guard let kind = member.kind, !kind.isSection, !kinds.contains(kind) else { return nil }
            kinds.append(kind)
            for plugin in self[kind] {
                guard let setting = plugin.settings.first(where: isMeant) else { continue }
                return "; '\(setting.name)' is a setting of \(kind) '\(plugin.name)', in '\(member.name)'"
            }
            return nil
        }
    }
}
