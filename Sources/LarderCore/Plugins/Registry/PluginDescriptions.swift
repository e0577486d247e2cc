// Descriptions and mirrors of plugins and their settings. A value from the environment is shown as it is written,
// `${NAME}`, also in a dump or a debugger. The mirrors show nothing that the descriptions hide.

extension Part: ShownByDescription {
    /// The kind of the plugin and its reference in the policy: `wrapper {"use":"timeout","after":"${SPAN}"}`.
    public var description: String { "\(plugin.kind) \(reference)" }
}

extension EffectiveSetting: CustomStringConvertible {
    /// The name, the value, and where it is written: `after "5s" (Policies/feed.json:5:43)`.
    package var description: String { "\(name) \(text) (\(position?.description ?? "default"))" }
}

extension SettingValues: CustomReflectable {
    /// No values: they may come from the environment.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

extension Plugin: CustomStringConvertible {
    /// The kind and the name: `strategy 'network-first'`.
    public var description: String { "\(kind) '\(name)'" }
}

extension Registry: CustomStringConvertible {
    /// The names of the plugins by their kinds: `origin: file, constant; wrapper: timeout`.
    public var description: String {
        kinds.filter { !self[$0].isEmpty }
            .map { "\($0): " + self[$0].map(\.name).joined(separator: ", ") }.joined(separator: "; ")
    }
}

extension Context: ShownByDescription {
    /// The resource that the part belongs to.
    public var description: String { "the place of a plugin in '\(resource)'" }
}
