import Larder

/// A call for one kind of change.
struct RestCall: Sendable, Hashable {
    var method: String
    var parameters: [String: String] = [:]
    var fields: [String: String] = [:]
    var body: PushTemplate?
    /// Whether the record's id is a parameter of the call.
    var hasID = false

    /// Whether a placeholder for the id is in it.
    var namesID: Bool { contains(.id) }

    /// The parameters of its calls.
    var parameterNames: [String] { parameters.keys.sorted() + (hasID && !namesID ? ["id"] : []) }

    /// Returns whether a placeholder is in it.
    func contains(_ placeholder: PushTemplate.Placeholder) -> Bool {
        let texts = Array(parameters.values) + Array(fields.values)
        return body?.contains(placeholder) == true
            || texts.contains { PushTemplate(json: .string($0)).contains(placeholder) }
    }

    static let create = RestCall(method: "POST", body: PushTemplate(.record))
    static let update = RestCall(
        method: "PATCH", fields: ["If-Match": "{version}"], body: PushTemplate(.changes), hasID: true)
    static let delete = RestCall(method: "DELETE", fields: ["If-Match": "{version}"], hasID: true)
}

extension SettingType where Value == RestCall {
    /// A call. What is left out stays as it is in the default.
    static func restCall(_ usual: RestCall) -> SettingType<RestCall> {
        .object(
            "call",
            Setting("method", .changingMethod, default: usual.method, help: "The method of HTTP"),
            Setting(
                "parameters", .textMap, default: usual.parameters,
                help: "Parameters of the URL; that of a change or deletion also has the parameter \"id\""),
            Setting(
                "fields", .textMap, default: usual.fields,
                help: "Header fields; one without a value, such as \"{version}\" of a record without one, is left out"),
            Setting(
                "body", optional: .pushTemplate,
                help:
                    "JSON with placeholders, such as \"{record}\", \"{changes}\", \"{id}\", \"{version}\" and \"{key}\""
            )
        ) { _, _, method, parameters, fields, body in
            RestCall(
                method: method, parameters: parameters, fields: fields, body: body ?? usual.body, hasID: usual.hasID)
        }
    }
}

extension SettingType where Value == String {
    /// A method of HTTP that changes something.
    static var changingMethod: SettingType<String> {
        let expectation = "a method that changes something, such as \"POST\""
        return SettingType(
            "text", expectation: expectation, schema: ["type": "string", "pattern": "^[A-Z]+$"], example: "POST",
            show: { "\"\($0)\"" },
            read: { node, reading in
                let reads = ["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"]
                guard let name = node.string, !name.isEmpty, !reads.contains(name),
                    name.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
                else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                return name
            })
    }
}

extension SettingType where Value == PushTemplate {
    /// JSON with placeholders.
    static var pushTemplate: SettingType<PushTemplate> {
        SettingType(
            "template", expectation: "JSON with the placeholders \(PushTemplate.names)", schema: true,
            example: "{record}",
            show: { $0.json.text(indented: false) },
            read: { node, reading in
                let template = PushTemplate(json: node.json)
                if let unknown = template.unknown.first {
                    reading.report(
                        "'\(unknown)' is no placeholder", at: node.position, expected: "one of \(PushTemplate.names)")
                    return nil
                }
                return template
            })
    }
}

extension SettingType where Value == [String: String] {
    /// An object of texts.
    static var textMap: SettingType<[String: String]> {
        let expectation = "an object of texts, such as { \"name\": \"value\" }"
        return SettingType(
            "texts", expectation: expectation,
            schema: ["type": "object", "additionalProperties": ["type": "string"]], example: [:],
            show: { texts in
                JSON.object(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).text(
                    indented: false)
            },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                var texts: [String: String] = [:]
                for member in members {
                    guard let text = member.value.string else {
                        reading.reject(member.value, expected: "a text")
                        return nil
                    }
                    if let unknown = PushTemplate(json: .string(text)).unknown.first {
                        reading.report(
                            "'\(unknown)' is no placeholder", at: member.value.position,
                            expected: "one of \(PushTemplate.names)")
                        return nil
                    }
                    texts[member.name] = text
                }
                return texts
            })
    }
}
