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
                .object(PluginKind.allCases.map { JSON.Member($0.rawValue, schema(of: $0)) } + [fromEnvironment])),
        ])
    }

    private static func schema(of slot: PolicySlot) -> JSON {
        let reference: JSON = ["$ref": .string("#/$defs/\(slot.kind)")]
        return slot.isList
            ? ["description": .string(slot.help), "type": "array", "items": reference]
            : ["description": .string(slot.help), "allOf": [reference]]
    }

    /// The strategies that need no origin, each as a condition on the policy.
    private var strategiesWithoutOrigin: [JSON] {
        self[.strategy].filter { !$0.needs.contains(.origin) }.map { plugin in
            let name: JSON = ["const": .string(plugin.name)]
            return [
                "properties": ["strategy": ["anyOf": [name, ["properties": ["use": name], "required": ["use"]]]]]
            ]
        }
    }

    private func schema(of kind: PluginKind) -> JSON {
        let plugins = self[kind]
        // A plugin's bare name is enough where none of its settings must be given.
        let bare = plugins.filter { plugin in !plugin.settings.contains(where: \.isRequired) }
        let names = JSON.list(bare.map { .string($0.name) })
        // Settings of other plugins of the kind may be left standing after a swap.
        let all = plugins.flatMap { $0.settings.map(\.name) }
        return ["anyOf": .list([["enum": names]] + plugins.map { schema(of: $0, among: all) })]
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
        guard setting.schema != true else { return .object(members) }
        members.append(JSON.Member("anyOf", [setting.schema, ["$ref": "#/$defs/environment"]]))
        return .object(members)
    }

    /// Any string may come from the environment, as a whole or in part.
    private var fromEnvironment: JSON.Member {
        JSON.Member("environment", ["type": "string", "pattern": #"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}"#])
    }
}
