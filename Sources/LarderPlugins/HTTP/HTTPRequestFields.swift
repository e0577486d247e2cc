import LarderCore

/// The header fields that an origin sends.
enum HTTPRequestFields {
    /// Returns the fields of a request: those of the call over those of the policy, and the conditions under which the
    /// server may answer that nothing has changed.
    ///
    /// - Throws: ``LoadError`` if the call has a field that it may not set.
    static func fields(
        of call: Call, policy: [Fields.Field], accept: HTTPAccept, method: String, hasBody: Bool
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
        func isNamed(_ name: String) -> Bool { policy.contains { $0.name == name } || own.contains { $0.name == name } }
        if !accept.ranges.isEmpty, !isNamed("accept") { add("accept", accept.ranges.joined(separator: ", ")) }
        if !isNamed("user-agent") { add("user-agent", "Larder") }
        fields += policy.filter { field in !own.contains { $0.name == field.name } } + own
        if !hasBody { fields.removeAll { $0.name.hasPrefix("content-") } }
        if mayBeConditional(call, method: method), let known = call.known?.metadata {
            if let etag = known.etag { add("if-none-match", etag) }
            if let date = known.lastModified { add("if-modified-since", date) }
        }
        return fields
    }

    /// Returns whether a request may name the copy that the server can confirm.
    static func mayBeConditional(_ call: Call, method: String) -> Bool {
        !call.isSend && ["GET", "HEAD", "QUERY"].contains(method) && call.known?.metadata.hasValidator == true
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
        "accept", "accept-language", "user-agent", "cache-control", "pragma", "if-none-match", "if-modified-since",
    ]
}

extension Metadata {
    fileprivate var hasValidator: Bool { etag != nil || lastModified != nil }
}
