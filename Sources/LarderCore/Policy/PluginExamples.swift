extension Registry {
    /// Returns the names of the plugins of a kind that have a trait, to be added to a sentence: `, such as 'timeout'`.
    /// Returns an empty text if there are none.
    func examples(of kind: PluginKind, where hasTrait: (Part) -> Bool) -> String {
        let names = self[kind].filter { example(of: $0).map(hasTrait) ?? false }.map { "'\($0.name)'" }
        return names.isEmpty ? "" : ", such as " + names.joined(separator: ", ")
    }

    /// Returns a part of this plugin with example values for its required settings; nil if one of them has no example.
    func example(of plugin: Plugin) -> Part? {
        let isSection = plugin.kind.isSection
        var members = isSection ? [] : [JSON.Member("use", .string(plugin.name))]
        for setting in plugin.settings where setting.isRequired {
            guard let example = setting.example else { return nil }
            members.append(JSON.Member(setting.name, example))
        }
        let text = SourceText(name: plugin.name, bytes: Array(JSON.object(members).text().utf8))
        let reading = PartReader(registry: self, folder: ".", file: text.name)
        guard let node = try? JSONParser.parse(text) else { return nil }
        return isSection ? Part(section: plugin, node, reading) : Part(plugin.kind, node: node, reading: reading)
    }
}
