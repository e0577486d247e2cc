/// One setting of a plugin, declared once: its name, type, default and a line of help.
///
/// Reading it from a policy, the messages about mistakes, the JSON Schema, `larder plugins` and the reference all come
/// from this declaration.
public final class Setting<Value: Sendable>: Sendable {
    /// The name in a policy.
    public let name: String
    /// How it is written and what it may be.
    public let type: SettingType<Value>
    /// What holds when it is left out; nil if it must not be.
    public let fallback: Value?
    /// What it does, in one line.
    public let help: String

    /// A setting that must be given.
    public init(_ name: String, _ type: SettingType<Value>, help: String) {
        self.name = name
        self.type = type
        self.fallback = nil
        self.help = help
    }

    /// A setting that may be left out.
    public init(_ name: String, _ type: SettingType<Value>, default fallback: Value, help: String) {
        self.name = name
        self.type = type
        self.fallback = fallback
        self.help = help
    }

    /// A setting that may be left out and then is nil.
    public init<Wrapped>(_ name: String, optional type: SettingType<Wrapped>, help: String) where Value == Wrapped? {
        self.name = name
        self.type = type.optional
        self.fallback = .some(nil)
        self.help = help
    }

    /// The declaration without its type, for listing.
    public var declaration: SettingDeclaration {
        SettingDeclaration(
            name: name, type: type.name, expectation: type.expectation, default: fallback.flatMap(type.show),
            isRequired: fallback == nil, help: help, schema: type.schema, example: type.example)
    }

    /// The value that `settings` gives, or the default; nil after a problem was reported.
    func read(from settings: Node, owner: String, _ reading: Reading) -> Value? {
        if let node = settings[name] {
            return reading.inside("." + name) { type.read(node, reading) }
        }
        if fallback == nil {
            reading.report("\(owner) needs the setting '\(name)'", at: settings.place, expected: type.expectation)
        }
        return fallback
    }
}

/// A setting as it is listed: in help, reference and schema.
public struct SettingDeclaration: Sendable {
    /// The name in a policy.
    public let name: String
    /// The type's name.
    public let type: String
    /// What may stand there.
    public let expectation: String
    /// The default as it would be written; nil if there is none.
    public let `default`: String?
    /// Whether it must be given.
    public let isRequired: Bool
    /// What it does, in one line.
    public let help: String
    /// The JSON Schema of its values.
    public let schema: JSON
    /// A value that may stand there; nil if there is none that fits everywhere.
    public let example: JSON?
}
