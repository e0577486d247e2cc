/// A setting of a plugin, declared once: its name, type, default and a line of help.
///
/// The reading from a policy, the error messages, the JSON Schema, `larder plugins` and the reference all come from
/// this declaration.
public final class Setting<Value: Sendable>: Sendable {
    /// The declaration without the value's type, for listing. A group has one for each of its settings.
    let declarations: [SettingDeclaration]
    /// Returns the value that the settings of a part give, or the default; nil after a problem was reported.
    let read: @Sendable (_ settings: Node, _ owner: String, PolicyDiagnostics) -> Value?

    init(
        _ declarations: [SettingDeclaration],
        read: @escaping @Sendable (_ settings: Node, _ owner: String, PolicyDiagnostics) -> Value?
    ) {
        self.declarations = declarations
        self.read = read
    }

    /// `defaultPart` gives the part that holds when a part is left out, or nil if none can be had.
    convenience init(
        _ name: String, type: SettingType<Value>, fallback: Value?, help: String,
        defaultPart: (@Sendable (PolicyDiagnostics) -> Value?)? = nil
    ) {
        let declaration = SettingDeclaration(
            name: name, type: type.name, expectation: type.expectation, default: fallback.flatMap(type.show),
            isRequired: fallback == nil && defaultPart == nil, help: help, schema: type.schema, example: type.example,
            kind: type.kind, isDefaultPart: defaultPart != nil, isShownInDumps: type.isShownInDumps,
            isShareable: type.isShareable)
        self.init([declaration]) { settings, owner, reading in
            if let node = settings[name] {
                return reading.inside("." + name) { type.read(node, reading) }
            }
            if let part = defaultPart?(reading) { return part }
            if fallback == nil, !reading.misnamed.contains(name) {
                reading.report(
                    "\(owner) needs the setting '\(name)'", at: settings.position, expected: type.expectation)
            }
            return fallback
        }
    }

    /// Declares a required setting.
    public convenience init(_ name: String, _ type: SettingType<Value>, help: String) {
        self.init(name, type: type, fallback: nil, help: help)
    }

    /// Declares a setting with a default.
    public convenience init(_ name: String, _ type: SettingType<Value>, default fallback: Value, help: String) {
        self.init(name, type: type, fallback: fallback, help: help)
    }

    /// Declares an optional setting. Its value is nil if it is left out.
    public convenience init<Wrapped>(_ name: String, optional type: SettingType<Wrapped>, help: String)
    where Value == Wrapped? {
        self.init(name, type: type.optional, fallback: .some(nil), help: help)
    }

    /// Returns the setting with its purpose, so that reports and `larder advise` can propose values for it.
    ///
    /// ```swift
    /// Setting("onError", .duration, default: .zero, help: "How long …").advised(.onError)
    /// ```
    public func advised(_ topic: AdviceTopic) -> Setting { with { $0.topic = topic } }

    /// Returns the setting with other words for it. A policy that uses one of them is led to the setting's name.
    ///
    /// ```swift
    /// Setting("fresh", .duration, help: "How long …").alsoCalled("ttl", "maxAge")
    /// ```
    public func alsoCalled(_ words: String...) -> Setting { with { $0.words += words } }

    /// Returns the setting of an origin whose value decides which data the origin gives, such as a URL.
    ///
    /// A copy belongs to the source that these settings name. If a policy changes one of them, no copy of the former
    /// source is used. If a plugin marks none of its settings, all of them count.
    public func identifiesData() -> Setting { with { $0.role = .identifiesData } }

    /// Returns the setting of an origin whose value lists the earlier values of another setting that gave the same data.
    /// Copies from there are still used.
    public func formerValues(of name: String) -> Setting { with { $0.role = .formerValues(of: name) } }

    /// Returns the setting of an origin whose value names other origins, which all give the same data: the data of
    /// this origin.
    public func givesSameData() -> Setting { with { $0.role = .givesSameData } }

    private func with(_ change: (inout SettingDeclaration) -> Void) -> Setting {
        var declarations = declarations
        for index in declarations.indices { change(&declarations[index]) }
        return Setting(declarations, read: read)
    }
}

/// A setting as it appears in help, the reference and the schema.
package struct SettingDeclaration: Sendable {
    /// The name in a policy.
    package let name: String
    /// The type's name.
    package let type: String
    /// The allowed values, in words.
    package let expectation: String
    /// The default as a policy would write it; nil if there is none.
    package let `default`: String?
    /// Whether the setting is required.
    package let isRequired: Bool
    /// The purpose, in one line.
    package let help: String
    /// The JSON Schema of its values.
    package let schema: JSON
    /// An allowed value; nil if no value fits everywhere.
    package let example: JSON?
    /// The kind of the plugins that its values name; nil if they name none.
    package let kind: PluginKind?
    /// Whether the first registered plugin of ``kind`` is used when the setting is left out.
    package let isDefaultPart: Bool
    /// Whether metrics dumps show the values.
    package let isShownInDumps: Bool
    /// The purpose of the setting, for advice; nil if none is given about it.
    package fileprivate(set) var topic: AdviceTopic?
    /// Other words for it, in no policy.
    package fileprivate(set) var words: [String] = []
    /// Whether a value depends on its text alone.
    let isShareable: Bool
    /// The meaning for the source of an origin's data.
    fileprivate(set) var role = SourceRole.none
}

/// The meaning of a setting for the source of an origin's data.
enum SourceRole: Hashable, Sendable {
    /// It says how the data is fetched.
    case none
    /// Its value decides which data the origin gives.
    case identifiesData
    /// Its value lists earlier values of another setting that gave the same data.
    case formerValues(of: String)
    /// Its value names origins that give the same data.
    case givesSameData
}
