// The problems of names that this program does not know. Each leads to the name or the place that is most likely meant.
extension Problem {
    /// The kind and name of a plugin that is not registered.
    package struct UnknownPlugin: Hashable, Sendable {
        package let kind: PluginKind
        package let name: String

        /// Returns nil for text that no app calls a plugin by, such as a URL.
        package init?(_ kind: PluginKind, _ name: String) {
            guard (1...64).contains(name.utf8.count), name == Self.word(name) else { return nil }
            self.kind = kind
            self.name = name
        }

        /// Returns the letters, digits and hyphens with which a text begins.
        static func word(_ text: String) -> String {
            String(text.prefix { $0.isLetter || $0.isNumber || $0 == "-" })
        }
    }
}

extension PolicyDiagnostics {
    /// `one of 'a', 'b'`, or the only name.
    private static func choice(_ names: [String]) -> String {
        (names.count > 1 ? "one of " : "") + names.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// Reports that no plugin of a kind has the name that `reference` gives.
    func reportUnknownPlugin(_ kind: PluginKind, _ name: String, at reference: Node) {
        let known = registry[kind]
        let choices = known.isEmpty ? nil : Self.choice(known.map(\.name))
        let unknown = "unknown \(kind) '\((reference.written ?? name).prefix(64))'"
        let plugin = registry[kind, Problem.UnknownPlugin.word(name)]
        let place: (noun: String, setting: String)? =
            name.contains("://") ? ("URL", "url") : name.contains("/") ? ("path", "path") : nil
        // A value from the environment is compared with no name, because the message would tell it.
        if reference.written != nil {
            report(unknown, at: reference.position, expected: choices)
        } else if name.isEmpty {
            report("the name of \(kind.withArticle) is empty", at: reference.position, expected: choices)
        } else if let place, let plugin = known.first(where: { $0.names.contains(place.setting) }) {
            report(
                "this is a \(place.noun), not the name of \(kind.withArticle)", at: reference.position,
                expected: "{ \"use\": \"\(plugin.name)\", \"\(place.setting)\": \"…\" }")
        } else if let place {
            // A URL may contain a password.
            report(
                "this is a \(place.noun), not the name of \(kind.withArticle)", at: reference.position,
                expected: choices)
        } else if let plugin, name.contains(where: \.isNumber) {
            report(
                "\(unknown): settings stand beside a name", at: reference.position,
                expected: "{ \"use\": \"\(plugin.name)\", … }")
        } else if let other = registry.kinds.first(where: { registry[$0, name] != nil }) {
            report("\(unknown); it is the name of \(other.withArticle)", at: reference.position, expected: choices)
        } else {
            report(
                unknown, at: reference.position, expected: choices,
                suggestion: plugin?.name ?? registry.name(meantBy: name, of: kind),
                unknown: Problem.UnknownPlugin(kind, name))
        }
    }

    /// Reports that a plugin has no setting with the name of `member`.
    ///
    /// - Returns: the setting that is meant, if the plugin needs it; nil if it can do without.
    func reportUnknownSetting(_ member: Node.Member, of plugin: Plugin, in settings: Node) -> String? {
        let called = plugin.settings.alsoCalled(member.name)
        let owner =
            plugin.kind.isSection
            ? nil : registry[plugin.kind].first { other in other.settings.contains { $0.name == member.name } }
        let hint = called == nil && plugin.kind != .pantrySection ? registry.hintAtPlugin(member.name) : nil
        let meant = called ?? (hint == nil ? plugin.settings.close(to: member.name) : nil)
        let missing = meant.flatMap { $0.isRequired && settings[$0.name] == nil ? $0.name : nil }
        inside(".\(member.name.prefix(64))") {
            if let owner, missing == nil {
                report(
                    "the setting '\(member.name)' has no effect: it belongs to \(plugin.kind) '\(owner.name)'",
                    .warning, at: member.position, suggestion: called?.name, rule: "no-effect")
            } else {
                report(
                    "unknown setting '\(member.name.prefix(64))' for \(plugin.kind) '\(plugin.name)'"
                        + (hint.map { "; " + $0 } ?? ""),
                    at: member.position,
                    expected: hint != nil ? nil : plugin.names.isEmpty ? "no settings" : Self.choice(plugin.names),
                    suggestion: meant?.name)
            }
        }
        return missing
    }

    /// Reports that the policy has no key with the name of `member`. It may be a section that this program does not know.
    func reportUnknownKey(_ member: Node.Member) {
        let hint = registry.hintAtKey(member.name) ?? registry.hintAtPlugin(member.name)
        let known = registry.members.map(\.name)
        inside(".\(member.name.prefix(64))") {
            report(
                "unknown key '\(member.name.prefix(64))'" + (hint.map { "; " + $0 } ?? ""), at: member.position,
                expected: hint == nil ? Self.choice(known) : nil,
                suggestion: hint == nil ? closestName(to: member.name, among: known) : nil,
                unknown: hint == nil ? Problem.UnknownPlugin(.section, member.name) : nil)
        }
    }

    /// Reports that `noun` has no key with the name of `member`. It may be a plugin of the kind `sections` that this program
    /// does not know.
    ///
    /// - Returns: the key that is meant; nil if none is.
    func reportUnknownMember(
        _ member: Node.Member, of noun: String, _ declarations: [SettingDeclaration], sections: PluginKind?
    ) -> String? {
        if isFull { return nil }
        let known = declarations.map(\.name) + (sections.map { registry[$0].map(\.name) } ?? [])
        let meant = declarations.alsoCalled(member.name)?.name ?? closestName(to: member.name, among: known)
        report(
            "unknown key '\(member.name.prefix(64))' of \(noun)", at: member.position,
            expected: Self.choice(known), suggestion: meant,
            unknown: sections.flatMap { Problem.UnknownPlugin($0, member.name) })
        return meant
    }
}
