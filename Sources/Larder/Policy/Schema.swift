extension Registry {
    /// The JSON Schema (2020-12) of policies that name these plugins, for editors. Every registered plugin is in it.
    public var schema: JSON {
        let slots = PolicySlot.all.map { slot in
            JSON.Member(slot.name, Self.schema(of: slot))
        }
        let words: [JSON.Member] = [
            JSON.Member("$schema", ["type": "string", "minLength": 1]),
            JSON.Member(
                "extends",
                [
                    "description": "A file whose contents this one builds on: objects merge, null removes",
                    "type": "string", "pattern": "^_[^/\\u0000]*\\.json$",
                ]),
            JSON.Member("resource", ["description": "The resource's name: the file's", "type": "string"]),
            JSON.Member("about", ["description": "What it is, for people", "type": "string", "minLength": 1]),
            JSON.Member("log", Self.log),
        ]
        let relaxed = (words + PolicySlot.all.map { JSON.Member($0.name, true) })
        return .object([
            JSON.Member("$schema", "https://json-schema.org/draft/2020-12/schema"),
            JSON.Member("title", "A Larder policy"),
            JSON.Member("type", "object"),
            // What a file that extends another may leave out, only the merged whole can tell.
            JSON.Member("if", ["required": ["extends"]]),
            JSON.Member(
                "then",
                ["properties": .object(relaxed), "required": ["resource"], "additionalProperties": false]),
            JSON.Member(
                "else",
                .object([
                    JSON.Member("properties", .object(words + slots)),
                    JSON.Member("required", ["resource", "strategy"]),
                    JSON.Member("additionalProperties", false),
                    JSON.Member("anyOf", .list([["required": ["origin"]]] + strategiesWithoutOrigin)),
                ])),
            JSON.Member(
                "$defs",
                .object(PluginKind.allCases.map { JSON.Member($0.rawValue, schema(of: $0)) } + Self.texts)),
        ])
    }

    private static var log: JSON {
        guard case .object(let members) = SettingType.told.schema else { return true }
        return .object([JSON.Member("description", "How much of its decisions the log is told")] + members)
    }

    private static func schema(of slot: PolicySlot) -> JSON {
        let reference: JSON = ["$ref": .string("#/$defs/\(slot.kind)")]
        return slot.isList
            ? ["description": .string(slot.help), "type": "array", "items": reference]
            : ["description": .string(slot.help), "allOf": [reference]]
    }

    /// The strategies that need no origin, each as a condition on the policy.
    private var strategiesWithoutOrigin: [JSON] {
        let names = self[.strategy].filter { !$0.needs.contains(.origin) }.map { JSON.string($0.name) }
        let name: JSON = ["anyOf": [["enum": .list(names)], Self.environment]]
        let reference: JSON = ["type": "object", "properties": ["use": name], "required": ["use"]]
        return [["properties": ["strategy": ["anyOf": [name, reference]]]]]
    }

    private func schema(of kind: PluginKind) -> JSON {
        let plugins = self[kind]
        // A plugin's bare name is enough where none of its settings must be given.
        let bare = plugins.filter { plugin in !plugin.settings.contains(where: \.isRequired) }
        let names = JSON.list(bare.map { .string($0.name) })
        // Settings of other plugins of the kind may be left standing after a swap.
        let all = plugins.flatMap { $0.settings.map(\.name) }
        let unknown: JSON = ["type": "object", "properties": ["use": Self.environment], "required": ["use"]]
        return [
            "anyOf": .list(
                [["enum": names]] + plugins.map { schema(of: $0, among: all) } + [Self.environment, unknown])
        ]
    }

    private func schema(of plugin: Plugin, among names: [String]) -> JSON {
        var properties = [JSON.Member("use", ["const": .string(plugin.name)])]
        properties += plugin.settings.map { JSON.Member($0.name, schema(of: $0)) }
        let own = Set(plugin.settings.map(\.name))
        var others: Set<String> = []
        for name in names where !own.contains(name) && others.insert(name).inserted {
            properties.append(JSON.Member(name, true))
        }
        let required = ["use"] + plugin.settings.filter(\.isRequired).map(\.name)
        return [
            "description": .string(plugin.about), "type": "object", "properties": .object(properties),
            "required": .list(required.map { .string($0) }), "additionalProperties": false,
        ]
    }

    private func schema(of setting: SettingDeclaration) -> JSON {
        var members = [JSON.Member("description", .string(setting.help))]
        if let text = setting.default { members.append(JSON.Member("$comment", .string("default: \(text)"))) }
        if case .object(let own) = Self.fillable(setting.schema) { members += own }
        return .object(members)
    }

    // MARK: The environment

    private static let environment: JSON = ["$ref": "#/$defs/environment"]

    /// The same schema, in which each string may also come from the environment, as a whole or in part.
    private static func fillable(_ schema: JSON) -> JSON {
        guard case .object(let members) = schema else { return ["$ref": "#/$defs/value"] }
        if let plain = plain(schema) { return ["anyOf": [plain, environment]] }
        return .object(
            members.map { member in
                switch (member.name, member.value) {
                case ("items", let items): JSON.Member("items", fillable(items))
                case ("anyOf", .list(let choices)) where choices.contains { plain($0) != nil }:
                    JSON.Member("anyOf", .list(choices.map { plain($0) ?? $0 } + [environment]))
                default: member
                }
            })
    }

    /// The same schema of texts, but of those without `${`; nil if it is not one of texts.
    private static func plain(_ schema: JSON) -> JSON? {
        guard case .object(let members) = schema else { return nil }
        if members.contains(where: { $0.name == "enum" }) { return schema }
        guard members.contains(JSON.Member("type", "string")) else { return nil }
        return .object(members + [JSON.Member("$ref", "#/$defs/plain")])
    }

    /// Texts without `${`, texts with it in order, and values all of whose texts are one or the other.
    private static let texts: [JSON.Member] = {
        let named = #"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}"#
        let value: JSON = ["$ref": "#/$defs/value"]
        return [
            JSON.Member("plain", ["not": ["type": "string", "pattern": #"\$\{"#]]),
            JSON.Member(
                "environment",
                [
                    "type": "string",
                    "pattern": .string(#"^(?=[\s\S]*\$\{)([^$]|\$(?!\$?\{)|\$\$\{|"# + named + ")*$"),
                ]),
            JSON.Member(
                "value",
                ["anyOf": [["$ref": "#/$defs/plain"], environment], "items": value, "additionalProperties": value]),
        ]
    }()
}
