import LarderSystem
import LarderCore

/// The beginning of an answer that broke off, and the request for its rest (RFC 9110, sections 13.1.5 and 14).
///
/// The rest is asked for at the URL from which the beginning came. For this, the server must have named the version by
/// a strong tag or by a date that is strong, and the fields by which answers vary must have the same values. The server
/// sends the rest if it still has this version, and everything anew if it has another one.
struct HTTPResumption: Sendable {
    /// The meaning of an answer for the beginning.
    enum Verdict: Equatable {
        /// The answer has this number of bytes of the rest.
        case rest(Int)
        /// The server must be asked without the beginning, because it did not send the rest as it should.
        case refused
        /// The answer stands for itself, and the beginning is of no use any more.
        case superseded
        /// The answer says nothing about the beginning, like most errors.
        case undecided
    }

    /// The statuses with which servers may refuse a part of what they would send whole.
    private static let refusals: Set = [400, 405, 412, 413, 416, 417, 501]

    let unfinished: UnfinishedPayload

    /// The facts of the answer that broke off.
    var metadata: Metadata { unfinished.metadata }

    /// Returns whether the beginning came from the URL with this digest.
    func isOf(_ target: String) -> Bool { metadata[.partTarget] == target }

    /// The fields with which the rest is asked for.
    var fields: [Fields.Field] {
        [
            ("range", "bytes=\(unfinished.size)-"), ("if-range", metadata[.partVersion] ?? ""),
            // The bytes are counted without a compression.
            ("accept-encoding", "identity"),
        ].compactMap { Fields.Field($0, $1) }
    }

    // MARK: Judging

    /// Judges an answer.
    func verdict(on exchange: HTTPExchange) -> Verdict {
        let answer = exchange.answer
        switch answer.status {
        case 206 where exchange.isResuming: return range(of: answer).map { .rest($0.count) } ?? .refused
        case _ where exchange.isResuming && Self.refusals.contains(answer.status): return .refused
        // The server confirms a copy, about which it was not asked.
        case 304 where exchange.isResuming && !exchange.isConditional: return .refused
        // Another server says nothing about it, such as one in the place of a server that failed.
        case 200...299, 304, 404, 410: return isOf(exchange.route.target) ? .superseded : .undecided
        default: return .undecided
        }
    }

    /// Returns whether the payload is complete with an answer that has a part of the rest.
    func isComplete(with answer: HTTPAnswer) -> Bool {
        range(of: answer).map { $0.start + $0.count == $0.total } ?? false
    }

    /// Returns the part that an answer has; nil if it does not go on with the same version.
    private func range(of answer: HTTPAnswer) -> HTTPContentRange? {
        let fields = answer.allFields
        guard metadata.etag == fields["etag"],
            // Unlike a tag, a date need not be stated again.
            fields["last-modified"] == nil || fields["last-modified"] == metadata.lastModified,
            !answer.isDecoded, fields.all("content-range").count == 1,
            let range = fields["content-range"].flatMap(HTTPContentRange.init), range.start == unfinished.size,
            metadata[.partSize] ?? range.total == range.total,
            fields["content-length"] ?? "\(range.count)" == "\(range.count)"
        else { return nil }
        return range
    }

    /// Returns the metadata of the whole payload, of which an exchange has brought the rest.
    func metadata(after exchange: HTTPExchange, at now: Timestamp) throws -> Metadata {
        var whole = metadata
        let (isAuthorized, setsCookie) = (whole[.isAuthorized], whole[.setsCookie])
        try whole.confirm(httpFields: exchange.answer.allFields, askedAt: exchange.askedAt, arrivedAt: now)
        exchange.note(in: &whole, at: now)
        whole[.isAuthorized] = whole[.isAuthorized] ?? isAuthorized
        whole[.setsCookie] = whole[.setsCookie] ?? setsCookie
        whole[.partVersion] = nil
        whole[.partTarget] = nil
        whole[.partSize] = nil
        whole[.partFields] = nil
        return whole
    }

    // MARK: Keeping

    /// Returns the facts with which the beginning of an answer is kept. Returns nil if its rest cannot be asked for.
    static func facts(of exchange: HTTPExchange, to request: HTTPRequest, for key: Key) -> Metadata? {
        let answer = exchange.answer
        let fields = answer.allFields
        guard answer.status == 200, request.method == "GET", exchange.route.request.method == "GET",
            request.body == nil, !answer.isDecoded, fields["accept-ranges"]?.lowercased() != "none",
            mayBeKept(fields, for: key), let version = version(in: fields, at: exchange.arrivedAt)
        else { return nil }
        var metadata = Metadata(
            httpStatus: answer.status, fields: fields, askedAt: exchange.askedAt, arrivedAt: exchange.arrivedAt)
        exchange.note(in: &metadata, at: exchange.arrivedAt)
        guard !metadata.variesBy.contains("*") else { return nil }
        metadata[.partVersion] = version
        metadata[.partTarget] = exchange.route.target
        metadata[.partSize] = fields["content-length"].flatMap { Int($0) }
        metadata[.partFields] = digest(of: request, by: metadata.variesBy)
        return metadata
    }

    /// Returns whether the server lets an answer be kept. An answer for one user is kept only in the scope of an account.
    private static func mayBeKept(_ fields: Fields, for key: Key) -> Bool {
        let flags = CacheControl(fields.all("cache-control")).flags
        if flags.contains(.noStore) { return false }
        return key.scope != nil
            || !flags.contains(.isPrivate) && fields["set-cookie"] == nil && fields["set-cookie2"] == nil
    }

    /// Returns the text by which a server recognizes the version: a strong tag, or else a date that is strong. A date is
    /// strong if the version was a minute old when it was sent (RFC 9110, section 8.8.2.2).
    private static func version(in fields: Fields, at now: Timestamp) -> String? {
        if let tag = fields["etag"] { return HTTPEntityTag.isStrong(tag) ? tag : nil }
        guard let modified = fields["last-modified"], let sent = fields["date"],
            let start = HTTPDates.parse(modified, now: now), let end = HTTPDates.parse(sent, now: now),
            end - start >= .seconds(60)
        else { return nil }
        return modified
    }

    /// Returns whether the beginning with these facts may be that of the answer to a request.
    static func suits(_ metadata: Metadata, _ request: HTTPRequest) -> Bool {
        metadata[.partVersion] != nil && metadata[.partFields] == digest(of: request, by: metadata.variesBy)
    }

    /// Returns a digest of the fields by which an answer varies, and of those by which servers often choose an answer
    /// without saying so.
    private static func digest(of request: HTTPRequest, by names: [String]) -> String {
        let names = Set(names).union(["accept", "accept-language"]).sorted()
        let values = names.map { name in
            request.fields.filter { $0.name == name }.map { "\($0.value.utf8.count):\($0.value)" }.joined()
        }
        return SHA256.hex((names + values).joined(separator: "\n").utf8)
    }
}

extension NoteKey where Value == String {
    /// The text by which the server recognizes the version.
    fileprivate static var partVersion: NoteKey { NoteKey("http.part.version") }
    /// The digest of the URL from which the beginning came.
    fileprivate static var partTarget: NoteKey { NoteKey("http.part.target") }
    /// The digest of the fields by which the answer varies.
    fileprivate static var partFields: NoteKey { NoteKey("http.part.fields") }
}

extension NoteKey where Value == Int {
    /// The size of the whole payload.
    fileprivate static var partSize: NoteKey { NoteKey("http.part.size") }
}
