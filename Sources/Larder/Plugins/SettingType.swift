/// How a setting's value is written, what it may be, and how it is shown.
public struct SettingType<Value: Sendable>: Sendable {
    /// The type's name: `duration`.
    public let name: String
    /// What may stand there, for messages: `a duration such as "250ms"`.
    public let expectation: String
    /// The JSON Schema of its values.
    public let schema: JSON
    /// A value that may stand there, for starters and references; nil if there is none that fits everywhere.
    public let example: JSON?
    let show: @Sendable (Value) -> String?
    package let read: @Sendable (Node, Reading) -> Value?

    /// A type of settings.
    ///
    /// `show` gives a value as it would be written in a policy, or nil for none; `read` gives the value of a node, or nil
    /// after reporting what is wrong with it.
    public init(
        _ name: String, expectation: String, schema: JSON, example: JSON? = nil,
        show: @escaping @Sendable (Value) -> String?,
        read: @escaping @Sendable (Node, Reading) -> Value?
    ) {
        self.name = name
        self.expectation = expectation
        self.schema = schema
        self.example = example
        self.show = show
        self.read = read
    }

    /// The same type, where nothing may stand too.
    var optional: SettingType<Value?> {
        SettingType<Value?>(
            name, expectation: expectation, schema: schema, example: example, show: { $0.flatMap(show) },
            read: { node, reading in read(node, reading).map { .some($0) } })
    }

    /// Lists of at least `least` values of another type.
    public static func list<Element>(of element: SettingType<Element>, atLeast least: Int = 0) -> SettingType<[Element]>
    where Value == [Element] {
        SettingType(
            "list of \(element.name)", expectation: "a list, each item \(element.expectation)",
            schema: ["type": "array", "items": element.schema, "minItems": .int(least)],
            example: least == 0 ? [] : element.example.map { .list(Array(repeating: $0, count: least)) },
            show: { "[" + $0.compactMap(element.show).joined(separator: ", ") + "]" },
            read: { node, reading in
                guard case .list(let items) = node.content else {
                    reading.reject(node, expected: "a list, each item \(element.expectation)")
                    return nil
                }
                if items.count < least {
                    reading.report(
                        "the list is too short", at: node.place, expected: "at least \(counted(least, "item"))")
                    return nil
                }
                let values = items.enumerated().compactMap { index, item in
                    reading.inside("[" + String(index) + "]") { element.read(item, reading) }
                }
                return values.count == items.count ? values : nil
            })
    }
}

extension SettingType where Value == String {
    /// Any text that is not empty.
    public static var text: SettingType<String> {
        SettingType(
            "text", expectation: "text", schema: ["type": "string", "minLength": 1],
            example: "text", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let text = node.string, !text.isEmpty else {
                    reading.reject(node, expected: "text")
                    return nil
                }
                return text
            })
    }

    /// One of a few words.
    public static func choice(_ words: [String]) -> SettingType<String> {
        let expectation = "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        return SettingType(
            "choice", expectation: expectation, schema: ["enum": .list(words.map { .string($0) })],
            example: words.first.map { .string($0) },
            show: { "\"\($0)\"" },
            read: { node, reading in
                guard let word = node.string else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard words.contains(word) else {
                    reading.report(
                        "this is none of the choices", at: node.place, expected: expectation,
                        suggestion: node.written == nil ? nearest(to: word, among: words) : nil)
                    return nil
                }
                return word
            })
    }

    /// A plain name for a file or folder that is written to: letters, digits, `.`, `_` and `-`, not starting with a dot.
    public static var name: SettingType<String> {
        let expectation = "a name of letters, digits, '.', '_' and '-'"
        return SettingType(
            "name", expectation: expectation,
            schema: ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"],
            example: "name", show: { "\"\($0)\"" },
            read: { node, reading in
                let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".unicodeScalars)
                guard let name = node.string, !name.isEmpty, !name.hasPrefix("."), name.utf8.count <= 100,
                    name.unicodeScalars.allSatisfy(letters.contains)
                else {
                    reading.reject(node, unless: "plain name", expected: expectation)
                    return nil
                }
                return name
            })
    }

    /// A file or folder inside the policy's own folder, which is all that a policy may read. The value is its full path.
    public static var path: SettingType<String> {
        let expectation = "a path below the policy's folder"
        return SettingType(
            "path", expectation: expectation,
            schema: ["type": "string", "pattern": #"^(?!/)(?!([^\u0000]*/)?\.\.(/|$))[^\u0000]+$"#],
            example: "Seeds/data.json", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let text = node.string, !text.isEmpty else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                let steps = text.split(separator: "/", omittingEmptySubsequences: false)
                guard !text.hasPrefix("/"), !text.contains("\0"), !steps.contains("..") else {
                    reading.report("the path leaves the policy's folder", at: node.place, expected: expectation)
                    return nil
                }
                let path = reading.folder + "/" + text
                // A link may lead anywhere.
                if let real = Disk.realPath(path), let home = Disk.realPath(reading.folder),
                    !real.hasPrefix(home + "/")
                {
                    reading.report("the path leaves the policy's folder", at: node.place, expected: expectation)
                    return nil
                }
                return path
            })
    }
}

extension SettingType where Value == Bool {
    /// `true` or `false`.
    public static var flag: SettingType<Bool> {
        SettingType(
            "flag", expectation: "true or false", schema: ["type": "boolean"], example: true, show: { "\($0)" },
            read: { node, reading in
                guard case .bool(let value) = node.content else {
                    reading.reject(node, expected: "true or false")
                    return nil
                }
                return value
            })
    }
}

extension SettingType where Value == Int {
    /// A whole number within limits.
    public static func int(_ range: ClosedRange<Int>) -> SettingType<Int> {
        let expectation = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return SettingType(
            "whole number", expectation: expectation,
            schema: ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)],
            example: .int(range.lowerBound), show: { "\($0)" },
            read: { node, reading in
                guard case .number(let number, _) = node.content, let value = Int(exactly: number) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard range.contains(value) else {
                    reading.report("\(value) is out of range", at: node.place, expected: expectation)
                    return nil
                }
                return value
            })
    }
}

extension SettingType where Value == Double {
    /// A number within limits.
    public static func number(_ range: ClosedRange<Double>) -> SettingType<Double> {
        let expectation =
            "a number from \(JSON.number(range.lowerBound).text()) to \(JSON.number(range.upperBound).text())"
        return SettingType(
            "number", expectation: expectation,
            schema: ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)],
            example: .number(range.lowerBound), show: { JSON.number($0).text() },
            read: { node, reading in
                guard case .number(let value, let text) = node.content else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard range.contains(value) else {
                    reading.report("\(text.prefix(32)) is out of range", at: node.place, expected: expectation)
                    return nil
                }
                return value
            })
    }

    /// A part of a whole: `0.1` or `"10%"`.
    public static var share: SettingType<Double> {
        let expectation = "a share such as 0.1 or \"10%\", from 0 to 1"
        return SettingType(
            "share", expectation: expectation,
            schema: [
                "anyOf": [
                    ["type": "number", "minimum": 0, "maximum": 1],
                    ["type": "string", "pattern": #"^0*(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%$"#],
                ]
            ],
            example: .number(0.1), show: { JSON.number($0).text() },
            read: { node, reading in
                let value: Double? =
                    switch node.content {
                    case .number(let number, _): number
                    case .string(let text): Self.percent(text)
                    default: nil
                    }
                guard let value else {
                    reading.reject(node, unless: "share", expected: expectation)
                    return nil
                }
                guard (0...1).contains(value) else {
                    reading.report("this share is out of range", at: node.place, expected: expectation)
                    return nil
                }
                return value
            })
    }

    private static func percent(_ text: String) -> Double? {
        guard text.hasSuffix("%") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) })
        else { return nil }
        return Double(text.dropLast()).map { $0 / 100 }
    }
}

extension SettingType where Value == JSON {
    /// Any JSON value.
    public static var json: SettingType<JSON> {
        SettingType(
            "JSON", expectation: "any JSON value", schema: true, example: [:], show: { $0.text(indented: false) },
            read: { node, _ in node.json })
    }
}

/// `1 item`, `2 items`.
private func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
