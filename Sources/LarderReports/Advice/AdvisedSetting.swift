import Larder

/// A setting of a policy about which advice can be given, with its value.
struct AdvisedSetting: Sendable {
    let topic: AdviceTopic
    let path: PolicyPath
    /// The name of the plugin that has the setting.
    let plugin: String
    /// The value as the policy has it; nil for a setting that is left out and has no default.
    let value: JSON?
    /// Whether the plugin is a part among the settings of another one, such as a tier.
    let isNested: Bool

    /// Finds the settings of the plugins that a policy names.
    ///
    /// - Parameter policy: the policy in effect, or its outline from a dump.
    static func all(in policy: JSON, of registry: Registry) -> [AdvisedSetting] {
        guard case .object(let members) = policy else { return [] }
        var settings: [AdvisedSetting] = []
        for member in registry.members {
            guard let kind = member.kind, let node = members.first(where: { $0.name == member.name })?.value else {
                continue
            }
            add(
                node, kind: kind, at: PolicyPath([.member(member.name)]), isNested: false, registry: registry,
                to: &settings)
        }
        for plugin in registry[.section] where members.contains(where: { $0.name == plugin.name }) {
            // Advice is about the section as a whole.
            guard let topic = plugin.settings.lazy.compactMap(\.topic).first else { continue }
            settings.append(
                AdvisedSetting(
                    topic: topic, path: PolicyPath([.member(plugin.name)]), plugin: plugin.name, value: nil,
                    isNested: false))
        }
        return settings
    }

    /// Adds the settings of one part, or of each part in a list.
    private static func add(
        _ node: JSON, kind: PluginKind, at path: PolicyPath, isNested: Bool, registry: Registry,
        to settings: inout [AdvisedSetting]
    ) {
        let name: String
        var members: [JSON.Member] = []
        switch node {
        case .list(let items):
            for (number, item) in items.enumerated().prefix(100) {
                add(item, kind: kind, at: path + .item(number), isNested: isNested, registry: registry, to: &settings)
            }
            return
        case .string(let text): name = text
        case .object(let own):
            members = own
            guard case .string(let text)? = own.first(where: { $0.name == "use" })?.value else { return }
            name = text
        default: return
        }
        guard path.steps.count < 20, let plugin = registry[kind, name] else { return }
        for declaration in plugin.settings {
            let value = members.first { $0.name == declaration.name }?.value
            let path = path + .member(declaration.name)
            if let topic = declaration.topic {
                settings.append(
                    AdvisedSetting(
                        topic: topic, path: path, plugin: name,
                        value: value ?? declaration.default.flatMap(JSON.init(spelled:)), isNested: isNested))
            } else if let kind = declaration.kind, let value {
                add(value, kind: kind, at: path, isNested: true, registry: registry, to: &settings)
            }
        }
    }

    /// The value as a duration; nil if it is none, or is not known.
    var duration: Duration? { if case .string(let text) = value { Duration(spelled: text) } else { nil } }

    /// The value as a number of bytes.
    var size: Int? { if case .string(let text) = value { Int(spelledSize: text) } else { nil } }

    /// The value as a share.
    var share: Double? {
        switch value {
        case .number(let share): share
        case .int(let share): Double(share)
        case .string(let text) where text.hasSuffix("%"): Double(text.dropLast()).map { $0 / 100 }
        default: nil
        }
    }
}

extension JSON {
    /// Reads a value as policies spell it: `"5m"`, `0.1`.
    fileprivate init?(spelled text: String) {
        guard let node = try? JSONParser.parse(SourceText(name: "", bytes: Array(text.utf8))) else { return nil }
        self = node.json
    }
}
