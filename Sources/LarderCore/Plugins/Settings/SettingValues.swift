/// The values of a group of settings. Each has the name of the property that declares its setting: see
/// ``Setting/group(_:)``.
@dynamicMemberLookup
public struct SettingValues<Group: Sendable>: Sendable {
    fileprivate let group: Group
    /// Each value, in a list of its own, by its setting.
    fileprivate var values: [ObjectIdentifier: any Sendable] = [:]

    /// The value of a setting.
    public subscript<Value>(dynamicMember setting: KeyPath<Group, Setting<Value>>) -> Value {
        let value = values[ObjectIdentifier(group[keyPath: setting])] as? [Value] ?? []
        precondition(!value.isEmpty, "only the stored properties of \(Group.self) are declared")
        return value[0]
    }
}

extension Setting {
    /// Declares settings together: the stored properties of a structure. Their values are then read by name.
    ///
    /// ```swift
    /// struct GreetingSettings {
    ///     let word = Setting("word", .text, default: "hello", help: "How it greets")
    ///     let times = Setting("times", .int(1...3), help: "How often it says so")
    /// }
    ///
    /// Plugin.origin("greeting", "Greets people.", .group(GreetingSettings())) { context, settings in
    ///     Greeting(word: settings.word, times: settings.times)
    /// }
    /// ```
    ///
    /// In a policy, the settings of a group stand beside all others of the plugin, in the order of the properties. A
    /// group may contain groups.
    public static func group<Group: Sendable>(_ group: Group) -> Setting where Value == SettingValues<Group> {
        let members = Mirror(reflecting: group).children.compactMap { $0.value as? any GroupedSetting }
        return Setting(members.flatMap(\.declarations)) { settings, owner, reading in
            var values = SettingValues(group: group)
            // All are read before any is missed, so that all problems are reported.
            for member in members {
                values.values[ObjectIdentifier(member)] = member.boxedValue(in: settings, of: owner, reading)
            }
            return values.values.count == members.count ? values : nil
        }
    }
}

/// A setting with a value of any type.
private protocol GroupedSetting: AnyObject, Sendable {
    var declarations: [SettingDeclaration] { get }

    /// Returns a list of the value, or nil after a problem was reported.
    func boxedValue(in settings: Node, of owner: String, _ reading: PolicyDiagnostics) -> (any Sendable)?
}

extension Setting: GroupedSetting {
    fileprivate func boxedValue(in settings: Node, of owner: String, _ reading: PolicyDiagnostics) -> (any Sendable)? {
        read(settings, owner, reading).map { [$0] }
    }
}
