/// A part's settings after they were read and checked. Parts that are written alike share it.
final class CheckedSettings: Sendable {
    let recipe: Recipe
    /// The parts among the settings.
    let nested: [Part]
    /// The canonical text of the part; nil if a value comes from the environment.
    let text: [UInt8]?
    /// A hash of the canonical text, with the values from the environment. It is only comparable within this process.
    let fingerprint: Int

    init(_ recipe: Recipe, nested: [Part], settings: Node, named name: Node) {
        let text = CanonicalText(ofPart: settings, named: name, with: nested)
        self.recipe = recipe
        self.nested = nested
        // A copy, because the buffer that was written to is larger.
        self.text = text.isFilled ? nil : text.bytes.withUnsafeBufferPointer { Array($0) }
        fingerprint = text.hash
    }
}

/// The parts of several policies that may be shared, by the plugin and the canonical text.
///
/// It is only used while policies are read: a plugin may derive facts from things that change later.
final class CheckedSettingsPool {
    private struct Name: Hashable {
        let plugin: ObjectIdentifier
        let text: [UInt8]
    }

    private var parts: [Name: CheckedSettings] = [:]

    subscript(plugin: Plugin, text: [UInt8]) -> CheckedSettings? {
        get { parts[Name(plugin: ObjectIdentifier(plugin), text: text)] }
        set { parts[Name(plugin: ObjectIdentifier(plugin), text: text)] = newValue }
    }
}

extension Plugin {
    /// Whether parts of this plugin that have the same settings may share what was read.
    func isShareable(with settings: Node) -> Bool { unshareableSettings.allSatisfy { settings[$0] == nil } }
}

extension CanonicalText {
    /// The text of a part, with the values from the environment.
    init(ofPart settings: Node, named name: Node, with nested: [Part] = []) {
        self.init(isShown: false)
        write(part: settings, named: name, with: nested)
    }

    /// Writes a part as an object with `use`.
    mutating func write(part settings: Node, named name: Node, with nested: [Part]) {
        let use = Node.Member(name: "use", position: name.position, value: name)
        let members = (settings["use"] == nil ? [use] : []) + (settings.members ?? [])
        write(sorted: members) { text, _, value in text.write(value, with: nested) }
    }

    private mutating func write(_ value: Node, with nested: [Part]) {
        if let part = nested.first(where: { $0.node.position == value.position }) {
            part.write(to: &self)
        } else if !nested.isEmpty, case .list(let items) = value.content {
            write(items) { $0.write($1, with: nested) }
        } else {
            write(value)
        }
    }
}
