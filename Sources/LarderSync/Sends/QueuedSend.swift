import Larder
import LarderFoundation

/// A request that waits to be sent, as a record: `Resource.send` with a section `outbox` keeps one for each change.
///
/// ```json
/// { "id": "…", "method": "POST", "parameters": { "id": "7" }, "fields": [], "body": "{\"liked\":true}" }
/// ```
struct QueuedSend: Hashable, Sendable {
    var method: String
    var parameters: [String: String]
    var fields: Fields
    var body: Data?
    /// The tags of the copies that are out of date after the change.
    var tags: [String] = []

    /// The place of a parameter in the record.
    static func path(ofParameter name: String) -> [String] { ["parameters", name] }
    /// The place of the id in the record.
    static let idPath = ["id"]

    /// The record. A body that is no text is in it in Base64.
    func record(id: String) -> JSONText {
        var values = JSONText.Members()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { values.add(name, value) }
        var members = JSONText.Members()
        members.add("id", id)
        members.add("method", method)
        members.add("parameters", JSONText(object: values))
        if !fields.isEmpty {
            let list = fields.map { field in
                JSONText(object: [("name", JSONText(string: field.name)), ("value", JSONText(string: field.value))])
            }
            members.add("fields", list: list)
        }
        if let body {
            let text = String(validating: body, as: UTF8.self)
            members.add(text == nil ? "base64" : "body", text ?? body.base64EncodedString())
        }
        if !tags.isEmpty { members.add("tags", list: tags.map { JSONText(string: $0) }) }
        return JSONText(object: members)
    }

    init(
        method: String, parameters: [String: String], fields: Fields, body: Data?, tags: [String]
    ) {
        (self.method, self.parameters, self.fields, self.body) = (method, parameters, fields, body)
        self.tags = tags
    }

    /// Reads a record. Returns nil if it is no send.
    init?(_ record: JSONText) {
        guard let method = record["method"]?.string, let parameters = record["parameters"] else { return nil }
        self.method = method
        self.parameters = [:]
        for (name, value) in parameters.members {
            guard let text = value.name else { return nil }
            self.parameters[name] = text
        }
        fields = [:]
        for field in record["fields"]?.items ?? [] {
            guard let name = field["name"]?.string, let value = field["value"]?.string,
                let field = Fields.Field(name, value)
            else { return nil }
            fields.add(field)
        }
        if let text = record["body"] {
            guard let body = text.string else { return nil }
            self.body = Data(body.utf8)
        } else if let text = record["base64"] {
            guard let body = text.string.flatMap({ Data(base64Encoded: $0) }) else { return nil }
            self.body = body
        }
        tags = (record["tags"]?.items ?? []).compactMap(\.string)
    }
}
