import Larder

extension SettingType where Value == JSONPointer {
    /// A place in an answer, which may be all of it.
    static var answerPointer: SettingType<JSONPointer> {
        let expectation = "a place in an answer such as \"/items\" (RFC 6901), or \"\" for all of it"
        return SettingType(
            "pointer", expectation: expectation, schema: ["type": "string", "pattern": "^(/([^/~]|~[01])*)*$"],
            example: "/items", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let pointer = node.string.flatMap({ JSONPointer($0) }) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return pointer
            })
    }
}

extension SettingType where Value == String {
    /// The name of a header field, or an empty text for none.
    static var fieldOrNone: SettingType<String> {
        let expectation = "the name of a header field, or \"\" for none"
        return SettingType(
            "text", expectation: expectation, schema: ["type": "string"], example: "Idempotency-Key",
            show: { "\"\($0)\"" },
            read: { node, reading in
                guard let name = node.string, name.isEmpty || Fields.Field(name, "1") != nil else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return name
            })
    }

    /// The name of a parameter of a URL.
    static var parameterName: SettingType<String> {
        let expectation = "the name of a parameter such as \"cursor\""
        return SettingType(
            "text", expectation: expectation, schema: ["type": "string", "minLength": 1], example: "cursor",
            show: { "\"\($0)\"" },
            read: { node, reading in
                guard let name = node.string, !name.isEmpty else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return name
            })
    }
}

/// A value at a place in an answer, which means something.
struct AnswerCode: Hashable, Sendable {
    var place: JSONPointer
    /// The text or number there, as a text.
    var value: String

    /// Returns whether an answer has the value.
    func isIn(_ answer: JSONText) -> Bool { answer[place]?.name.map { $0.utf8.elementsEqual(value.utf8) } ?? false }
}

extension SettingType where Value == AnswerCode {
    /// A place in an answer, and the value that it has.
    static var answerCode: SettingType<AnswerCode> {
        .object(
            "code", Setting("at", .answerPointer, help: "The place in an answer"),
            Setting("is", .text, help: "The text that is there, or the number")
        ) { _, _, place, value in AnswerCode(place: place, value: value) }
    }
}
