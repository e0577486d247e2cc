extension Registry {
    /// The JSON Schema (2020-12) of policies that name these plugins, for editors. It contains every registered plugin.
    public var schema: JSON {
        let (resource, strategy, origin) = (PolicyMember.resource, PolicyMember.strategy, PolicyMember.origin)
        let answering = answeringSections
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A Larder policy", "type": "object",
            "if": ["required": [.string(PolicyMember.extends.name)]],
            "then": [
                // A file that extends another one may give only some of a plugin's settings, so its plugins are not
                // checked here.
                "properties": .each(members) { ($0.name, $0.kind == nil ? schema(of: $0) : true) },
                "required": [.string(resource.name)], "additionalProperties": false,
            ],
            "else": .present([
                "properties": .each(members) { ($0.name, schema(of: $0)) },
                "required": .list((answering.isEmpty ? [resource, strategy] : [resource]).map { .string($0.name) }),
                "additionalProperties": false,
                "anyOf": .list(
                    [["required": [.string(origin.name)]]] + strategiesWithoutOrigin
                        + answering.map { ["required": [.string($0.name)]] }),
                "oneOf": answering.isEmpty
                    ? nil : .list([["required": [.string(strategy.name)]]] + answering.map(Self.answers)),
            ]),
            "$defs": .joined(.each(kinds.filter { !$0.isSection }) { ($0.name, schema(of: $0)) }, Self.texts),
        ]
    }

    private func schema(of member: PolicyMember) -> JSON {
        let description: JSON = ["description": .string(member.help)]
        switch member.content {
        case .plugin(let kind): return .joined(description, ["allOf": [Self.reference(to: kind)]])
        case .plugins(let kind): return .joined(description, ["type": "array", "items": Self.reference(to: kind)])
        case .section(let plugin): return schema(of: plugin, among: [])
        case .value(_, let schema): return schema.members == nil ? schema : .joined(description, schema)
        }
    }

    private static func reference(to kind: PluginKind) -> JSON { ["$ref": .string("#/$defs/\(kind)")] }

    /// Returns the condition of a policy whose loads a section answers.
    private static func answers(_ section: Plugin) -> JSON {
        ["required": [.string(section.name)], "properties": .each(PolicyMember.withStrategy) { ($0.name, false) }]
    }

    /// The strategies that need no origin, as conditions on the policy.
    private var strategiesWithoutOrigin: [JSON] {
        let names = self[.strategy].filter { !$0.needs.contains(.origin) }.map { JSON.string($0.name) }
        let name: JSON = ["anyOf": [["enum": .list(names)], Self.environment]]
        let reference: JSON = ["type": "object", "properties": ["use": name], "required": ["use"]]
        return [["properties": .each([PolicyMember.strategy]) { ($0.name, ["anyOf": [name, reference]]) }]]
    }

    private func schema(of kind: PluginKind) -> JSON {
        let plugins = self[kind]
        // The name alone is enough for a plugin without required settings.
        let bare = plugins.filter { plugin in !plugin.settings.contains(where: \.isRequired) }
        let names = JSON.list(bare.map { .string($0.name) })
        // Settings of other plugins of the kind are allowed, so that a policy can swap `use` alone.
        let all = plugins.flatMap { $0.settings.map(\.name) }
        let unknown: JSON = ["type": "object", "properties": ["use": Self.environment], "required": ["use"]]
        return [
            "anyOf": .list(
                [["enum": names]] + plugins.map { schema(of: $0, among: all) } + [Self.environment, unknown])
        ]
    }

    private func schema(of plugin: Plugin, among names: [String]) -> JSON {
        let isSection = plugin.kind.isSection
        var properties = isSection ? [] : [JSON.Member("use", ["const": .string(plugin.name)])]
        properties += plugin.settings.map { JSON.Member($0.name, schema(of: $0)) }
        let own = Set(plugin.settings.map(\.name))
        var others: Set<String> = []
        for name in names where !own.contains(name) && others.insert(name).inserted {
            properties.append(JSON.Member(name, true))
        }
        let required = (isSection ? [] : ["use"]) + plugin.settings.filter(\.isRequired).map(\.name)
        return [
            "description": .string(plugin.about), "type": "object", "properties": .object(properties),
            "required": .list(required.map { .string($0) }), "additionalProperties": false,
        ]
    }

    private func schema(of setting: SettingDeclaration) -> JSON {
        .joined(
            .present([
                "description": .string(setting.help), "$comment": setting.default.map { .string("default: \($0)") },
            ]),
            Self.fillable(setting.schema))
    }

    // MARK: The environment

    private static let environment: JSON = ["$ref": "#/$defs/environment"]

    /// Returns the schema with each string also allowed to come from the environment, as a whole or in part.
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

    /// Returns a schema of texts without those that contain `${`; nil if the schema is not one of texts.
    private static func plain(_ schema: JSON) -> JSON? {
        guard let members = schema.members else { return nil }
        if members.contains(where: { $0.name == "enum" }) { return schema }
        guard members.contains(JSON.Member("type", "string")) else { return nil }
        return .joined(schema, ["$ref": "#/$defs/plain"])
    }

    /// Texts without `${`, texts with well-formed `${NAME}`, and values that contain only these two.
    private static let texts: JSON = {
        let named = #"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}"#
        let value: JSON = ["$ref": "#/$defs/value"]
        return [
            "plain": ["not": ["type": "string", "pattern": #"\$\{"#]],
            "environment": [
                "type": "string", "pattern": .string(#"^(?=[\s\S]*\$\{)([^$]|\$(?!\$?\{)|\$\$\{|"# + named + ")*$"),
            ],
            "value": [
                "anyOf": [["$ref": "#/$defs/plain"], environment], "items": value, "additionalProperties": value,
            ],
        ]
    }()
}
