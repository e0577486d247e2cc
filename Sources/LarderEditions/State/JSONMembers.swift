import Larder

extension JSON {
    /// The member called `name`; nil if there is none, or if this is not an object.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text; nil if this is none.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The whole number; nil if this is none.
    var number: Int? { if case .int(let number) = self { number } else { nil } }
}
