import LarderCore

extension SettingType {
    /// An object of texts. `read` makes an element of each member, or reports why it cannot.
    static func object<Element>(
        _ name: String, expectation: String,
        of read: @escaping @Sendable (Node.Member, PolicyDiagnostics) -> Element?
    ) -> SettingType<[Element]> where Value == [Element] {
        SettingType(
            name, expectation: expectation,
            schema: ["type": "object", "additionalProperties": ["type": "string"]], example: [:], show: { _ in "{}" },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                let elements = members.compactMap { member in
                    reading.inside(".\(member.name.prefix(64))") { read(member, reading) }
                }
                return elements.count == members.count ? elements : nil
            })
    }
}

extension SettingType where Value == [Fields.Field] {
    /// The header fields that are sent with each request: an object of texts.
    static var fields: SettingType<[Fields.Field]> {
        object(
            "fields", expectation: "an object of texts, such as { \"Accept-Language\": \"en\" }", of: field)
    }

    private static func field(_ member: Node.Member, _ reading: PolicyDiagnostics) -> Fields.Field? {
        guard let value = member.value.string else {
            reading.reject(member.value, expected: "text")
            return nil
        }
        guard let field = Fields.Field(member.name, "") else {
            reading.report("this is not the name of a field", at: member.position)
            return nil
        }
        if HTTPRequestFields.isSetByOrigin(field.name) || HTTPRequestFields.isCondition(field.name) {
            reading.report("the field '\(field.name)' cannot be set: the origin sets it itself", at: member.position)
            return nil
        }
        guard let whole = Fields.Field(member.name, value) else {
            reading.report("the value of a field is on one line", at: member.value.position)
            return nil
        }
        if LiteralSecret.isSecret(field.name) {
            if LiteralSecret.stands(in: member.value) {
                LiteralSecret.report("the value of the field '\(field.name)'", at: member.value.position, reading)
            } else if member.value.written == nil {
                reading.report(
                    "the field '\(field.name)' is sent without a secret", .warning, at: member.value.position,
                    expected: "a value from the environment, such as \"${TOKEN}\"")
            }
        } else if LiteralSecret.isObvious(member.value) {
            LiteralSecret.report("the value of the field '\(field.name)'", at: member.value.position, reading)
        }
        return whole
    }
}

extension SettingType where Value == String {
    /// A media type or a range of them, without parameters.
    static var mediaType: SettingType<String> {
        let expectation = "a media type such as \"application/json\" or \"image/*\""
        let name = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
        return SettingType(
            "media type", expectation: expectation,
            schema: ["type": "string", "pattern": .string("^\(name)/\(name)$")],
            example: "application/json", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let text = node.string, HTTPAccept.isRange(text), !text.contains(where: { "; \t".contains($0) })
                else {
                    reading.reject(node, mediaType: expectation)
                    return nil
                }
                return text
            })
    }
}

extension PolicyDiagnostics {
    /// The types that people call by the end of a file's name, or by another short word.
    private static let mediaTypes = [
        "json": "application/json", "xml": "application/xml", "html": "text/html", "text": "text/plain",
        "txt": "text/plain", "csv": "text/csv", "css": "text/css", "js": "text/javascript", "pdf": "application/pdf",
        "zip": "application/zip", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "svg": "image/svg+xml", "image": "image/*", "images": "image/*", "video": "video/*",
        "audio": "audio/*", "*": "*/*", "binary": "application/octet-stream",
    ]

    /// Reports that `node` is not a media type.
    fileprivate func reject(_ node: Node, mediaType expectation: String) {
        let text = node.written == nil ? node.string?.lowercased() ?? "" : ""
        let type = text.prefix { $0 != ";" && $0 != " " }
        let meant = HTTPAccept.isRange(String(type)) ? String(type) : Self.mediaTypes[String(text.trimmingPrefix("."))]
        report("this is not a media type", at: node.position, expected: expectation, suggestion: meant)
    }
}

extension SettingType where Value == HTTPAccept {
    /// The media types that an origin accepts.
    static var accept: SettingType<HTTPAccept> {
        let list = SettingType<[String]>.list(of: .text)
        return SettingType<HTTPAccept>(
            "media types", expectation: "a list of media types such as [\"application/json\"]", schema: list.schema,
            example: ["application/json"], show: { "[" + $0.ranges.map { "\"\($0)\"" }.joined(separator: ", ") + "]" },
            read: { node, reading in
                guard case .list(let items) = node.content else {
                    reading.reject(node, expected: "a list of media types such as [\"application/json\"]")
                    return nil
                }
                let ranges = items.compactMap { item -> String? in
                    guard let text = item.string, HTTPAccept.isRange(text) else {
                        reading.reject(item, mediaType: "a type such as \"application/json\" or \"image/*\"")
                        return nil
                    }
                    return text
                }
                return ranges.count == items.count ? HTTPAccept(ranges) : nil
            })
    }
}

/// The media types that an origin accepts. An empty list accepts all.
struct HTTPAccept: Hashable, Sendable {
    /// The types as the policy has them, such as `image/*` or `text/html;q=0.5`.
    let ranges: [String]
    private let types: [String]

    /// The field that asks for the types; nil if all are accepted.
    var field: Fields.Field? { ranges.isEmpty ? nil : Fields.Field("accept", ranges.joined(separator: ", ")) }

    init(_ ranges: [String]) {
        self.ranges = ranges
        types = ranges.map(Self.type)
    }

    /// Returns whether a media type is accepted.
    func accepts(_ contentType: String) -> Bool {
        let type = Self.type(of: contentType)
        return types.isEmpty
            || types.contains { $0 == "*/*" || $0 == type || $0.hasSuffix("/*") && type.hasPrefix($0.dropLast()) }
    }

    /// Returns whether a text is a media type or a range of them, perhaps with parameters.
    static func isRange(_ text: String) -> Bool {
        let parts = type(of: text).split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { Fields.Field(String($0), "") != nil }
            && Fields.Field("accept", text) != nil && !text.contains(",")
    }

    /// The type of `text/html; charset=utf-8` is `text/html`.
    private static func type(of text: String) -> String {
        text.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    }
}
