import Larder
import LarderFoundation

/// A value in a condition, which is written in the format of the records that are asked.
struct QueryValue: Sendable {
    private let encoded: @Sendable ((any JSONFormat.Type)?) throws -> Data

    init(_ value: some Encodable & Sendable) {
        encoded = { format in
            let encoder = JSONEncoder()
            format?.configure(encoder)
            return try encoder.encode(value)
        }
    }

    /// Returns the value as JSON.
    ///
    /// - Throws: ``QueryError`` if it cannot be written as JSON, or if it is an object or a list.
    func text(in format: (any JSONFormat.Type)?, field: [String]) throws(QueryError) -> JSONText {
        let text: JSONText
        do { text = try JSONText(encoded(format)) } catch {
            throw QueryError(description: "the value for \(field.asField) cannot be written as JSON")
        }
        if text.kind == .object || text.kind == .list {
            throw QueryError(
                description: "\(field.asField) is compared with an object or a list, which no query can do")
        }
        return text
    }
}

extension [String] {
    /// The place, for messages.
    var asField: String { "field '\(JSONPointer(steps: self))'" }
}
