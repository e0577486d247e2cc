public import LarderSystem
public import LarderCore

/// The facts of an HTTP answer, for origins that call an HTTP server themselves. The validator `http` reads them.
extension Metadata {
    /// Creates the metadata of an answer of an HTTP server.
    ///
    /// ```swift
    /// let metadata = Metadata(httpStatus: 200, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60"],
    ///     askedAt: start, arrivedAt: context.world.now)
    /// return Loaded(Entry(body, metadata))
    /// ```
    ///
    /// The fields are kept, except those that belong to the connection, hold credentials or describe how the body was
    /// transferred.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - fields: the header fields of the answer.
    ///   - askedAt: the time at which the request was sent.
    ///   - arrivedAt: the time at which the head of the answer arrived.
    public init(httpStatus status: Int, fields: Fields, askedAt: Timestamp, arrivedAt: Timestamp) {
        self.init(status: status)
        take(fields, askedAt: askedAt, arrivedAt: arrivedAt)
    }

    /// Replaces the fields of a kept answer by those of a newer answer that confirms it, with the status 304 (RFC 9111,
    /// section 3.2). Fields that the newer answer does not have are kept, and so is the content type.
    ///
    /// ```swift
    /// return try .unchanged(call) { metadata in
    ///     try metadata.confirm(httpFields: fields, askedAt: start, arrivedAt: context.world.now)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - fields: the header fields of the newer answer.
    ///   - askedAt: the time at which the request was sent.
    ///   - arrivedAt: the time at which the head of the answer arrived.
    /// - Throws: ``LoadError`` with the code `failed` if the newer answer confirms another version than this one (section
    ///   4.3.4). Nothing is changed then.
    public mutating func confirm(httpFields fields: Fields, askedAt: Timestamp, arrivedAt: Timestamp) throws {
        guard isConfirmed(by: fields) else { throw LoadError(.failed, "the server confirms another version") }
        var fields = fields
        // The type belongs to the payload, which has not changed.
        fields["content-type"] = nil
        take(fields, askedAt: askedAt, arrivedAt: arrivedAt)
    }

    /// Whether the validators of a newer answer are those of this one.
    func isConfirmed(by fields: Fields) -> Bool {
        if let confirmed = HTTPEntityTag.tag(in: fields) {
            // Servers that weaken the tag of a compressed answer often do not weaken that of the answer which confirms it.
            return etag?.trimmingWeakness == confirmed.trimmingWeakness
        }
        guard let confirmed = fields["last-modified"], let lastModified else { return true }
        return confirmed == lastModified
    }

    private mutating func take(_ fields: Fields, askedAt: Timestamp, arrivedAt: Timestamp) {
        var kept = self.fields
        // They describe the exchange. Those of an earlier one would be combined with the times of this one.
        for name in ["age", "date"] { kept[name] = nil }
        var replaced: Set<String> = []
        for field in Self.keptFields(of: fields) {
            if replaced.insert(field.name).inserted { kept[field.name] = nil }
            kept.add(field)
        }
        self.fields = kept
        etag = HTTPEntityTag.tag(in: fields) ?? etag
        lastModified = fields["last-modified"] ?? lastModified
        contentType = fields["content-type"] ?? contentType
        if fields["vary"] != nil { variesBy = HTTPVary.names(of: fields) }
        initialAge = HTTPAge.initial(fields, asked: askedAt, arrived: arrivedAt)
        self[.setsCookie] = fields["set-cookie"] == nil && fields["set-cookie2"] == nil ? nil : 1
    }

    /// Returns the fields without those that belong to the connection, hold credentials or describe how the body was
    /// transferred.
    static func keptFields(of fields: Fields) -> Fields {
        let connection = Set(fields.all("connection").flatMap(HTTPVary.names))
        var kept = Fields()
        for field in fields where mayBeKept(field.name) && !connection.contains(field.name) { kept.add(field) }
        return kept
    }

    private static func mayBeKept(_ name: String) -> Bool {
        switch name {
        case "set-cookie", "set-cookie2", "authorization", "authentication-info", "connection", "keep-alive",
            "te", "trailer", "transfer-encoding", "upgrade", "content-encoding", "content-length", "content-range":
            false
        default: !name.hasPrefix("proxy-")
        }
    }
}

extension String {
    /// The opaque part of an entity tag.
    fileprivate var trimmingWeakness: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}

extension NoteKey where Value == Int {
    /// Whether the answer sets a cookie. The cookie itself is not kept.
    static var setsCookie: NoteKey { NoteKey("http.set-cookie") }
    /// Whether the request had credentials in the field `Authorization`, also if the policy or a signer added it.
    static var isAuthorized: NoteKey { NoteKey("http.authorization") }
}

/// Reads the field `Vary` of an answer.
enum HTTPVary {
    /// Returns the names of the request's fields by which an answer varies, in lower case, sorted and each once. Returns
    /// only `*` if that is among them. `accept-encoding` is left out, because bodies arrive decoded.
    static func names(of fields: Fields) -> [String] {
        let names = Set(fields.all("vary").flatMap(names)).subtracting(["accept-encoding"])
        return names.contains("*") ? ["*"] : names.sorted()
    }

    /// Returns the names in a list, in lower case.
    static func names(_ list: String) -> [String] {
        HTTPText.elements(list).map { String(decoding: $0.map(HTTPText.lowercased), as: UTF8.self) }
    }
}
