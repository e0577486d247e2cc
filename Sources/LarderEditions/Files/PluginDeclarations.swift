import Larder
import LarderSystem

/// The declarations of the plugins of a registry, as its JSON Schema has them.
struct PluginDeclarations {
    private static let definition = "#/$defs/"

    private let registry: Registry
    private let keys: [String: JSON]
    private var plugins: [PluginName: JSON] = [:]

    init(_ registry: Registry) {
        self.registry = registry
        let schema = registry.schema
        keys = Self.object(schema["else"]?["properties"])
        for (kind, definition) in Self.object(schema["$defs"]) {
            guard case .list(let choices)? = definition["anyOf"] else { continue }
            for choice in choices {
                guard case .string(let name)? = choice["properties"]?["use"]?["const"] else { continue }
                plugins[PluginName(kind: kind, name: name)] = choice
            }
        }
        for (key, schema) in keys where registry[.section, key] != nil {
            plugins[PluginName(kind: "\(PluginKind.section)", name: key)] = schema
        }
    }

    /// The keys of policies.
    var policyKeys: Set<String> { Set(keys.keys) }

    /// A digest of all declarations.
    var digest: String {
        SHA256.hex(plugins.keys.map { $0.text + (digest(of: $0) ?? "") }.sorted().joined(separator: "\n").utf8)
    }

    func has(_ plugin: PluginName) -> Bool { plugins[plugin] != nil }

    /// Returns the digest of the kind, the name, and each setting's name, type, limits and default. Help does not count.
    func digest(of plugin: PluginName) -> String? {
        guard let declaration = plugins[plugin] else { return nil }
        let settings = settings(of: declaration).sorted { $0.key < $1.key }
        let required = declaration["required"]?.sortedTexts ?? []
        let text = JSON.list(
            [.string(plugin.kind), .string(plugin.name), required]
                + settings.map { .list([.string($0.key), $0.value.withoutHelp]) })
        return "sha256:" + SHA256.hex(text.text(indented: false).utf8)
    }

    /// The settings of a plugin. Those of other plugins of the kind, which a policy may write too, are `true`.
    private func settings(of declaration: JSON) -> [String: JSON] {
        Self.object(declaration["properties"]).filter { $0.value != true && $0.key != "use" }
    }

    // MARK: The plugins of policies

    /// Returns the plugins that policies name, those in settings of others included.
    func plugins(namedBy policies: some Sequence<JSON>) -> Set<PluginName> {
        var found: Set<PluginName> = []
        for policy in policies {
            for (key, value) in Self.object(policy) {
                guard let schema = keys[key] else { continue }
                let section = PluginName(kind: "\(PluginKind.section)", name: key)
                if has(section) { found.insert(section) }
                collect(value, schema, into: &found)
            }
        }
        return found
    }

    private func collect(_ value: JSON, _ schema: JSON, into found: inout Set<PluginName>) {
        if case .string(let reference)? = schema["$ref"], reference.hasPrefix(Self.definition) {
            collect(value, ofKind: String(reference.dropFirst(Self.definition.count)), into: &found)
        }
        if case .list(let choices)? = schema["anyOf"] { for choice in choices { collect(value, choice, into: &found) } }
        if case .list(let parts)? = schema["allOf"] { for part in parts { collect(value, part, into: &found) } }
        if case .list(let items) = value, let schema = schema["items"] {
            for item in items { collect(item, schema, into: &found) }
        }
        guard case .object(let members) = value else { return }
        for member in members {
            let schema = schema["properties"]?[member.name] ?? schema["additionalProperties"]
            if let schema { collect(member.value, schema, into: &found) }
        }
    }

    /// Collects the plugin that a reference names, and those in its settings.
    private func collect(_ reference: JSON, ofKind kind: String, into found: inout Set<PluginName>) {
        switch reference {
        case .string(let name):
            let named = PluginName(kind: kind, name: name)
            if has(named) { found.insert(named) }
        case .object(let members):
            let named: PluginName? =
                if case .string(let name)? = reference["use"] { PluginName(kind: kind, name: name) } else { nil }
            if let named, has(named) { found.insert(named) }
            // A file that extends another one may leave out `use`. Then the settings of all plugins of the kind are possible.
            let owners = named.map { [$0] } ?? plugins.keys.filter { $0.kind == kind }
            for member in members where member.name != "use" {
                for owner in owners {
                    guard let schema = plugins[owner].map(settings)?[member.name] else { continue }
                    collect(member.value, schema, into: &found)
                }
            }
        default: break
        }
    }

    private static func object(_ value: JSON?) -> [String: JSON] {
        guard case .object(let members)? = value else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }
}

extension JSON {
    /// The list of texts in alphabetical order.
    fileprivate var sortedTexts: JSON {
        guard case .list(let items) = self else { return self }
        return .list(items.sorted { $0.text() < $1.text() })
    }

    /// The schema without descriptions.
    fileprivate var withoutHelp: JSON {
        switch self {
        case .object(let members):
            .object(
                members.compactMap { member in
                    if member.name == "description", case .string = member.value { return nil }
                    // Below this keyword, names are those of settings.
                    if member.name == "properties", case .object(let settings) = member.value {
                        return JSON.Member(
                            "properties", .object(settings.map { JSON.Member($0.name, $0.value.withoutHelp) }))
                    }
                    return JSON.Member(member.name, member.value.withoutHelp)
                })
        case .list(let items): .list(items.map(\.withoutHelp))
        default: self
        }
    }
}
