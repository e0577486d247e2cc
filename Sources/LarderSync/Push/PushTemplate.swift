import Larder

/// JSON with placeholders. A text that is exactly one placeholder, such as `"{record}"`, becomes its value. Inside a longer
/// text, it is text.
struct PushTemplate: Sendable, Hashable {
    /// The values that a change has for templates.
    enum Placeholder: String, CaseIterable, Sendable {
        case record, changes, added, removed, before, id, version, key, kind, madeAt, operations
    }

    /// All placeholders, for messages.
    static let names = Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")

    /// The template as JSON.
    let json: JSON

    init(json: JSON) { self.json = json }

    /// A template that is one placeholder.
    init(_ placeholder: Placeholder) { json = .string("{\(placeholder.rawValue)}") }

    /// The texts of which each is exactly one placeholder, but none that is known.
    var unknown: [String] {
        Self.texts(in: json).filter { text in
            guard let name = Self.name(of: text) else { return false }
            return Placeholder(rawValue: name) == nil
        }
    }

    /// Returns whether a placeholder is in it.
    func contains(_ placeholder: Placeholder) -> Bool {
        Self.texts(in: json).contains { $0.contains("{\(placeholder.rawValue)}") }
    }

    /// Returns the JSON with values in place of the placeholders.
    ///
    /// - Parameter value: returns the value of a placeholder; nil if the change has none. A member without a value is left
    ///   out.
    func filled(_ value: (Placeholder) -> JSONText?) -> JSONText { filled(json, value) ?? .null }

    private func filled(_ json: JSON, _ value: (Placeholder) -> JSONText?) -> JSONText? {
        switch json {
        case .object(let members):
            return JSONText(
                object: members.compactMap { member in
                    filled(member.value, value).map { (name: member.name, value: $0) }
                })
        case .list(let items): return JSONText(list: items.map { filled($0, value) ?? .null })
        case .string(let text):
            if let placeholder = Self.name(of: text).flatMap(Placeholder.init) { return value(placeholder) }
            return JSONText(string: Self.filled(text, value))
        default: return JSONText(json)
        }
    }

    /// Returns a text with values in place of the placeholders. Placeholders in the values stay as they are.
    static func filled(_ text: String, _ value: (Placeholder) -> JSONText?) -> String {
        var (result, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            rest = rest[start...]
            let end = rest.firstIndex(of: "}")
            if let end, let placeholder = Placeholder(rawValue: String(rest[rest.index(after: start)..<end])) {
                result += value(placeholder).map { $0.name ?? $0.shownText } ?? ""
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result + rest
    }

    /// Returns the name in a text that is exactly one placeholder; nil if it is something else.
    private static func name(of text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let name = text.dropFirst().dropLast()
        return !name.isEmpty && name.allSatisfy { $0.isASCII && $0.isLetter } ? String(name) : nil
    }

    private static func texts(in json: JSON) -> [String] {
        switch json {
        case .object(let members): members.flatMap { texts(in: $0.value) }
        case .list(let items): items.flatMap { texts(in: $0) }
        case .string(let text): [text]
        default: []
        }
    }
}

extension PushedChange {
    /// Returns the value of a placeholder; nil if the change has none.
    func value(of placeholder: PushTemplate.Placeholder) -> JSONText? {
        switch placeholder {
        case .record: record
        case .changes: kind == .create ? record : Self.object(fields) { $0.after ?? .null }
        case .before: Self.object(fields) { $0.before ?? .null }
        case .added: Self.object(fields.filter(\.isUnion)) { JSONText(list: $0.added) }
        case .removed: Self.object(fields.filter(\.isUnion)) { JSONText(list: $0.removed) }
        case .id: id
        case .version: version
        case .key: JSONText(string: key)
        case .kind: JSONText(string: kind.rawValue)
        case .madeAt: JSONText(integer: madeAt)
        case .operations: nil
        }
    }

    /// Returns an object with a value for each field, at the place that the field has in the record.
    private static func object(_ fields: [Field], _ value: (Field) -> JSONText) -> JSONText {
        JSONText.object.setting(fields.map { ($0.place.steps, value($0)) })
    }
}
