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

extension Traits: ShownByDescription {
    /// The traits that the plugin has set. If the part has settings from the environment, only the names of the traits.
    public var description: String {
        declared.map { mayBeShown ? "\($0.name): \($0.value)" : $0.name }.joined(separator: ", ")
    }

    private var declared: [(name: String, value: String)] {
        let values: [(String, String?)] = [
            ("givesUpAfter", givesUpAfter?.spelled), ("tries", tries.map { "\($0.count) over \($0.waits.spelled)" }),
            ("cannotFail", cannotFail ? "true" : nil), ("isLocal", isLocal ? "true" : nil),
            ("needsNoNetwork", needsNoNetwork ? "true" : nil),
            ("showsStaleFor", showsStaleFor?.spelled),
            ("showsStaleAtOnceFor", showsStaleAtOnceFor?.spelled), ("showsFor", showsFor?.spelled),
            ("followsOrigin", followsOrigin ? "true" : nil),
            ("noticesDamage", noticesDamage ? "true" : nil), ("capacity", capacity.map { "\($0) B" }),
            ("keepsFor", keepsFor?.spelled), ("keepsNothing", keepsNothing ? "true" : nil),
            ("isForeign", isForeign ? "true" : nil), ("writesTo", writesTo), ("patience", patience?.spelled),
            ("rest", rest?.spelled), ("borders", borders.map { $0.map(\.spelled).joined(separator: " ") }),
            ("changesAfterFailures", changesAfterFailures.map(String.init)), ("account", account.map { _ in "set" }),
            ("allowsAnonymous", allowsAnonymous ? "true" : nil),
            ("permitsBackground", permitsBackground.map { _ in "set" }),
            ("contradictions", contradictions.isEmpty ? nil : contradictions.map(\.setting).joined(separator: ", ")),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }
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
