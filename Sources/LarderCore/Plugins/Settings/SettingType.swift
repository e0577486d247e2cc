import LarderSystem

/// A type of settings: how a value is written, which values are allowed, and how a value is shown.
public struct SettingType<Value: Sendable>: Sendable {
    /// The type's name: `duration`.
    package let name: String
    /// The allowed values, in words for messages: `a duration such as "250ms"`.
    package let expectation: String
    /// The JSON Schema of its values.
    public let schema: JSON
    /// An allowed value, for starter policies and references; nil if no value fits everywhere.
    package let example: JSON?
    /// Whether metrics dumps show the values. Dumps leave the machine, so they replace other values by `…`.
    ///
    /// Numbers, shares, sizes, durations, windows, flags and choices are shown. Everything else is not, unless
    /// ``shownInDumps`` says so. The value of an environment variable is never shown.
    package private(set) var isShownInDumps = false
    /// The kind of the plugins that a value names; nil if it names none.
    var kind: PluginKind?
    /// Whether a value depends on its text alone, and not on its place in a policy or on the disk. Equal parts of policies
    /// then share it.
    private(set) var isShareable = false
    let show: @Sendable (Value) -> String?
    /// Returns the value of a node, or nil after reporting what is wrong with it. A type can be made from another one with it.
    public let read: @Sendable (Node, PolicyDiagnostics) -> Value?

    /// Makes a type of settings. Metrics dumps do not show its values: see ``shownInDumps``.
    ///
    /// `show` returns a value as a policy would write it, or nil if there is nothing to show. `read` returns the value
    /// of a node, or nil after reporting what is wrong with it. Both may be called on several threads.
    public init(
        _ name: String, expectation: String, schema: JSON, example: JSON? = nil,
        show: @escaping @Sendable (Value) -> String?,
        read: @escaping @Sendable (Node, PolicyDiagnostics) -> Value?
    ) {
        self.name = name
        self.expectation = expectation
        self.schema = schema
        self.example = example
        self.show = show
        self.read = read
    }

    /// The same type with an optional value.
    var optional: SettingType<Value?> {
        SettingType<Value?>(
            name, expectation: expectation, schema: schema, example: example, show: { $0.flatMap(show) },
            read: { node, reading in read(node, reading).map { .some($0) } }
        ).naming(kind).shown(isShownInDumps).shareable(isShareable)
    }

    /// The same type, with values that metrics dumps show. For texts that are never secret or personal:
    /// `Setting("region", .text.shownInDumps, help: …)`.
    public var shownInDumps: SettingType { shown(true) }

    /// The same type, with values that metrics dumps do not show. For numbers that are secret, such as a PIN.
    public var hiddenInDumps: SettingType { shown(false) }

    /// The same type, with values that metrics dumps show or not.
    func shown(_ isShown: Bool) -> SettingType {
        var copy = self
        copy.isShownInDumps = isShown
        return copy
    }

    /// The same type, with values that depend on their text alone or not.
    func shareable(_ isShareable: Bool = true) -> SettingType {
        var copy = self
        copy.isShareable = isShareable
        return copy
    }

    /// The same type of settings whose values name plugins of a kind.
    func naming(_ kind: PluginKind?) -> SettingType {
        var copy = self
        copy.kind = kind
        return copy
    }

    /// The largest number of plugins in a list. More would slow every load, and exhaust the stack.
    private static var mostPlugins: Int { 100 }

    /// A list of values of another type, with at least `least` items. A list of plugins has at most 100.
    public static func list<Element>(of element: SettingType<Element>, atLeast least: Int = 0) -> SettingType<[Element]>
    where Value == [Element] {
        let most = element.kind == nil ? nil : mostPlugins
        let schema: JSON =
            if let most {
                ["type": "array", "items": element.schema, "minItems": .int(least), "maxItems": .int(most)]
            } else {
                ["type": "array", "items": element.schema, "minItems": .int(least)]
            }
        return SettingType(
            "list of \(element.name)", expectation: "a list, each item \(element.expectation)",
            schema: schema,
            example: least == 0 ? [] : element.example.map { .list(Array(repeating: $0, count: least)) },
            show: { "[" + $0.compactMap(element.show).joined(separator: ", ") + "]" },
            read: { node, reading in
                guard case .list(let items) = node.content else {
                    reading.reject(node, expected: "a list, each item \(element.expectation)")
                    return nil
                }
                if items.count < least {
                    reading.report(
                        "the list is too short", at: node.position, expected: "at least \(counted(least, one: "item"))")
                    return nil
                }
                if let most, items.count > most {
                    reading.report(
                        "the list is too long", at: node.position, expected: "at most \(counted(most, one: "item"))")
                    return nil
                }
                let values = items.enumerated().compactMap { index, item in
                    reading.inside("[" + String(index) + "]") { element.read(item, reading) }
                }
                return values.count == items.count ? values : nil
            }
        ).naming(element.kind).shown(element.isShownInDumps).shareable(element.isShareable)
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
            }
        ).shareable()
    }

    /// A word from a list.
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
                        "this is not one of the choices", at: node.position, expected: expectation,
                        suggestion: node.written == nil ? closestName(to: word, among: words) : nil)
                    return nil
                }
                return word
            }
        ).shownInDumps.shareable()
    }

    /// A name for a file or folder that is written to: letters, digits, `.`, `_` and `-`. It does not begin with a dot
    /// and has at most 100 characters.
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
            }
        ).shareable()
    }

    /// A file or folder inside the policy's own folder. A policy may read nothing else. The value is the full path.
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
                    reading.report("the path leaves the policy's folder", at: node.position, expected: expectation)
                    return nil
                }
                guard !reading.folder.isEmpty else {
                    reading.report(
                        "there is no folder to read this file from", at: node.position,
                        expected: "a policy in a folder, or a pantry made with `files:`")
                    return nil
                }
                let path = reading.folder + "/" + text
                // A symbolic link may lead out of the folder.
                if let real = Disk.realPath(path), let home = Disk.realPath(reading.folder),
                    !real.hasPrefix(home + "/")
                {
                    reading.report("the path leaves the policy's folder", at: node.position, expected: expectation)
                    return nil
                }
                if !Disk.isThere(path) {
                    reading.report(
                        "there is no such file in the policy's folder", .warning, at: node.position,
                        expected: "the path of a file that exists")
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
            }
        ).shownInDumps.shareable()
    }
}

extension SettingType where Value == Int {
    /// A whole number in a range.
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
                    reading.report("\(value) is out of range", at: node.position, expected: expectation)
                    return nil
                }
                return value
            }
        ).shownInDumps.shareable()
    }
}

extension SettingType where Value == Double {
    /// A number in a range.
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
                    reading.report("\(text.prefix(32)) is out of range", at: node.position, expected: expectation)
                    return nil
                }
                return value
            }
        ).shownInDumps.shareable()
    }

    /// A share of a whole: `0.1` or `"10%"`.
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
                    reading.report("this share is out of range", at: node.position, expected: expectation)
                    return nil
                }
                return value
            }
        ).shownInDumps.shareable()
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
