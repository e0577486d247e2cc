/// Words that people know a plugin or a setting by, from other frameworks. No policy may use them, but messages lead from
/// them to the right name.
struct OtherWords {
    private let words: [String]

    init(_ words: [String]) { self.words = words }

    /// Whether one of the words is written like this, without regard to case, hyphens and underscores.
    func have(_ word: String) -> Bool {
        word.utf8.count <= 64 && words.contains { Self.plain($0) == Self.plain(word) }
    }

    private static func plain(_ word: String) -> String { word.lowercased().filter { $0 != "-" && $0 != "_" } }
}

extension Plugin {
    /// Returns the name of the setting that a word most likely means; nil if it means none.
    func setting(meantBy word: String) -> String? {
        settings.first { OtherWords($0.words).have(word) }?.name ?? closestName(to: word, among: names)
    }
}

extension Registry {
    /// Returns the place in a policy where a word belongs: `; 'timeout' is a wrapper, in 'around'`. Returns an empty text if
    /// there is none, or more than one.
    func place(of word: String) -> String {
        if let member = members.first(where: { OtherWords($0.words).have(word) }) {
            return "; the key is '\(member.name)'"
        }
        for member in members {
            guard let kind = member.kind, !kind.isSection else { continue }
            if let plugin = self[kind].first(where: { $0.name == word || OtherWords($0.words).have(word) }) {
                return "; '\(plugin.name)' is \(kind.withArticle), in '\(member.name)'"
            }
        }
        var kinds: [PluginKind] = []
        let places = members.compactMap { member -> String? in
            guard let kind = member.kind, !kind.isSection, !kinds.contains(kind) else { return nil }
            kinds.append(kind)
            for plugin in self[kind] {
                let setting = plugin.settings.first { $0.name == word || OtherWords($0.words).have(word) }
                if let setting {
                    return "; '\(setting.name)' is a setting of \(kind) '\(plugin.name)', in '\(member.name)'"
                }
            }
            return nil
        }
        return places.count == 1 ? places[0] : ""
    }
}
