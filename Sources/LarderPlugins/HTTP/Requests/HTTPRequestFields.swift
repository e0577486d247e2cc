import LarderCore

/// The header fields that an origin sends.
enum HTTPRequestFields {
    /// Returns the fields of a request: those of the call over those of the policy.
    ///
    /// - Throws: ``LoadError`` if the call has a field that it may not set.
    static func fields(
        of call: Call, policy: [Fields.Field], accept: HTTPAccept, hasBody: Bool
    ) throws(LoadError) -> [Fields.Field] {
        let own = call.request.fields
        for field in own {
            if isSetByOrigin(field.name) || !call.isSend && isCondition(field.name) {
                throw LoadError(.failed, "the request may not set the field '\(field.name)'")
            }
            if !call.isSend, call.request.key.scope == nil, isCredential(field.name) {
                // Otherwise two users would share copies.
                throw LoadError(.failed, "a request with credentials in the field '\(field.name)' needs a scope")
            }
        }
        var fields: [Fields.Field] = []
        func add(_ name: String, _ value: String) {
            if let field = Fields.Field(name, value) { fields.append(field) }
        }
        let named = Set(own.map(\.name)).union(policy.map(\.name))
        if !named.contains("accept"), let accept = accept.field { fields.append(accept) }
        if !named.contains("user-agent") { add("user-agent", "Larder") }
        fields += policy.filter { field in !own.contains { $0.name == field.name } } + own
        if !hasBody { fields.removeAll { $0.name.hasPrefix("content-") } }
        return fields
    }

    /// Returns the fields that a policy adds to requests that lack them.
    static func added(by policy: [Fields.Field], accept: HTTPAccept) -> Fields {
        let isNamed = policy.contains { $0.name == "accept" }
        return (policy + (isNamed ? [] : [accept.field].compactMap(\.self))).reduce(into: Fields()) { $0.add($1) }
    }

    /// Returns whether a server may confirm a copy in answer to a method.
    static func mayConfirm(_ method: String) -> Bool { ["GET", "HEAD", "QUERY"].contains(method) }

    /// Returns the conditions under which a server answers that a copy is current.
    static func conditions(confirming known: Metadata) -> [Fields.Field] {
        let tag = known.etag.flatMap { HTTPEntityTag.isValid($0) ? $0 : nil }
        return [("if-none-match", tag), ("if-modified-since", known.lastModified)].compactMap { name, value in
            value.flatMap { Fields.Field(name, $0) }
        }
    }

    /// Returns whether a field is set by the origin or the transport, or describes the connection.
    static func isSetByOrigin(_ name: String) -> Bool { reserved.contains(name) || name.hasPrefix("proxy-") }

    /// Returns whether a field says under which condition the server answers.
    static func isCondition(_ name: String) -> Bool { name.hasPrefix("if-") }

    private static func isCredential(_ name: String) -> Bool { ["authorization", "cookie"].contains(name) }

    private static let reserved: Set = [
        "host", "content-length", "connection", "transfer-encoding", "accept-encoding", "range", "if-range", "expect",
        "keep-alive", "te", "trailer", "upgrade", "http2-settings",
    ]

    /// Returns whether a field may be sent to another server than the one that the policy names.
    static func isSafeForOtherServers(_ name: String) -> Bool { harmless.contains(name) }

    private static let harmless: Set = [
        "accept", "accept-language", "user-agent", "cache-control", "pragma",
    ]
}
