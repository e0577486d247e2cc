import Larder

extension PushTemplate {
    /// The values of placeholders in a call.
    typealias Found = [Placeholder: JSONText]

    /// Returns the values of the placeholders in a body that was made of this template; nil if it was made of another.
    func values(in body: JSONText?) -> Found? {
        var found: Found = [:]
        return Self.matches(json, body, finding: &found) ? found : nil
    }

    private static func matches(_ json: JSON, _ text: JSONText?, finding found: inout Found) -> Bool {
        switch json {
        case .string(let pattern):
            if let placeholder = placeholder(in: pattern) {
                // A member without a value was left out.
                found[placeholder] = text
                return true
            }
            if let (placeholder, value) = Self.value(in: text?.string, of: pattern) {
                found[placeholder] = JSONText(string: value)
                return true
            }
            // A text of several placeholders is not read back.
            let isMade = Placeholder.allCases.contains { pattern.contains("{\($0.rawValue)}") }
            return isMade ? text?.kind == .string : text?.string == pattern
        case .object(let members):
            guard let text, text.kind == .object else { return false }
            return members.allSatisfy { matches($0.value, text[[$0.name]], finding: &found) }
        case .list(let items):
            guard let text, text.kind == .list, text.items.count == items.count else { return false }
            return zip(items, text.items).allSatisfy { matches($0, $1, finding: &found) }
        default: return text.map { $0.means(JSONText(json)) } ?? false
        }
    }

    /// Returns the only placeholder of a pattern such as `"\"{version}\""`, and its value in a text that was made of it.
    static func value(in text: String?, of pattern: String) -> (Placeholder, String)? {
        guard let text, let start = pattern.firstIndex(of: "{"), let end = pattern[start...].firstIndex(of: "}"),
            let placeholder = placeholder(in: String(pattern[start...end]))
        else { return nil }
        let (before, after) = (pattern[..<start], pattern[pattern.index(after: end)...])
        guard text.hasPrefix(before), text.hasSuffix(after), text.count >= before.count + after.count else {
            return nil
        }
        return (placeholder, String(text.dropFirst(before.count).dropLast(after.count)))
    }

    /// Returns the placeholder that a text consists of; nil if it is something else.
    static func placeholder(in text: String) -> Placeholder? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        return Placeholder(rawValue: String(text.dropFirst().dropLast()))
    }
}

extension ServiceChange {
    /// - Parameters:
    ///   - found: the values of the placeholders in a call.
    ///   - id: the id, if no placeholder stands for it.
    ///   - key: the key, if no placeholder stands for it.
    /// - Returns: nil if the call does not tell the values of the record, such as one with the changed items of lists only.
    fileprivate init?(
        _ kind: PushedChange.Kind, found: PushTemplate.Found, id: JSONText? = nil, key: String? = nil
    ) {
        let values = found[.record] ?? found[.changes]
        if values == nil, kind != .delete { return nil }
        self.init(
            kind, id: found[.id] ?? id, key: found[.key]?.name ?? key, version: found[.version],
            values: values ?? .object)
    }
}

extension RestCall {
    /// Returns the values of the placeholders in a request; nil if it is no call of this kind.
    fileprivate func values(in request: Request, _ method: String, _ body: JSONText?) -> PushTemplate.Found? {
        guard method == self.method, parameterNames.allSatisfy({ request.parameters[$0] != nil }),
            var found = self.body.map({ $0.values(in: body) }) ?? [:]
        else { return nil }
        for (name, text) in parameters {
            guard let (placeholder, value) = PushTemplate.value(in: request.parameters[name], of: text) else {
                continue
            }
            found[placeholder] = JSONText(string: value)
        }
        for (name, text) in fields {
            guard let (placeholder, value) = PushTemplate.value(in: request.fields[name], of: text) else { continue }
            found[placeholder] = JSONText(string: value)
        }
        return found
    }
}

extension RestPusher {
    var dialect: PushDialect? {
        PushDialect { [calls, key] request, method in
            let body = request.body.flatMap { try? JSONText($0) }
            let id = request.parameters["id"].map { JSONText(string: $0) }
            let found = PushedChange.Kind.allCases.compactMap { kind in
                calls[kind]?.values(in: request, method, body).map { (kind: kind, values: $0) }
            }
            let own = key.isEmpty ? nil : request.fields[key]
            guard let first = found.first else { return nil }
            // If a create is sent as a change is, the service makes what is not there.
            let isEither = first.kind == .create && found.dropFirst().first?.kind == .update
            let (kind, values) = isEither ? found[1] : first
            let knownID = kind == .create ? nil : id
            guard var change = ServiceChange(kind, found: values, id: knownID, key: own) else { return nil }
            change.makesRecord = isEither
            return [change]
        } answer: { [outcomes] results in
            guard let result = results.first else { return ServiceAnswer(status: 400, body: nil) }
            let place = result.status < 300 ? outcomes.record : outcomes.conflictRecord
            guard let record = result.record, let place else { return ServiceAnswer(status: result.status, body: nil) }
            return ServiceAnswer(status: result.status, body: JSONText.object.placing(record, at: place))
        }
    }
}

extension BatchPusher {
    var dialect: PushDialect? {
        PushDialect { [method, body, operation] request, sent in
            guard sent == method, let text = request.body.flatMap({ try? JSONText($0) }),
                let found = body.values(in: text)?[.operations], found.kind == .list
            else { return nil }
            let changes = found.items.compactMap { item in
                let found = operation.values(in: item) ?? [:]
                let kind = found[.kind]?.string.flatMap(PushedChange.Kind.init) ?? .update
                return ServiceChange(kind, found: found)
            }
            return changes.count == found.items.count ? changes : nil
        } answer: { [results, status, match, outcomes] made in
            let items = made.map { result -> JSONText in
                var item = JSONText.object.placing(JSONText(.int(result.status)), at: status)
                if let match, let name = result.change.key.map({ JSONText(string: $0) }) ?? result.change.id {
                    item = item.placing(name, at: match)
                }
                let place = result.status < 300 ? outcomes.record : outcomes.conflictRecord
                guard let record = result.record, let place, place.steps != [""] else { return item }
                return item.placing(record, at: place)
            }
            return ServiceAnswer(status: 200, body: JSONText.object.placing(JSONText(list: items), at: results))
        }
    }
}
