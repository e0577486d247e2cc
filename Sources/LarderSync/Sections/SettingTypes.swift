import Larder

extension SettingType where Value == JSONPointer {
    /// The place of a member in a record.
    static var pointer: SettingType<JSONPointer> {
        let expectation = "a place in a record such as \"/id\" or \"/shop/id\" (RFC 6901)"
        return SettingType(
            "pointer", expectation: expectation,
            schema: ["type": "string", "pattern": "^(/([^/~]|~[01])+)+$"], example: "/id", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let pointer = node.string.flatMap({ JSONPointer($0) }), RecordColumns.place(pointer.steps) != nil
                else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return pointer
            })
    }
}

extension SettingType where Value == [String] {
    /// A field of records, by the name of a member or by its place.
    static var field: SettingType<[String]> {
        let expectation = "a field such as \"tags\", or a place such as \"/shop/tags\""
        return SettingType(
            "field", expectation: expectation, schema: ["type": "string", "minLength": 1], example: "tags",
            show: { "\"\($0.fieldName)\"" },
            read: { node, reading in
                guard let path = node.string.flatMap({ [String](fieldNamed: $0) }) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return path
            })
    }
}

extension [String] {
    /// Reads a field as policies write it: a name, or a place. Returns nil if it is none.
    fileprivate init?(fieldNamed text: String) {
        let path = text.hasPrefix("/") ? JSONPointer(text)?.steps : [text]
        guard let path, RecordColumns.place(path) != nil else { return nil }
        self = path
    }

    fileprivate var fieldName: String { count == 1 ? self[0] : JSONPointer(steps: self).description }
}

extension SettingType where Value == IndexField {
    /// A field of an index.
    static var indexField: SettingType<IndexField> {
        let expectation = "a field such as \"name\", \"-updatedAt\" for descending, or a place such as \"/shop/name\""
        return SettingType(
            "field", expectation: expectation, schema: ["type": "string", "minLength": 1], example: "name",
            show: { "\"" + ($0.isDescending ? "-" : "") + $0.path.fieldName + "\"" },
            read: { node, reading in
                guard let text = node.string else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                let isDescending = text.hasPrefix("-")
                let name = isDescending ? String(text.dropFirst()) : text
                guard let path = [String](fieldNamed: name) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return IndexField(path: path, isDescending: isDescending)
            })
    }
}
