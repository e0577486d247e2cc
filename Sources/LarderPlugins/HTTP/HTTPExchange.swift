import LarderBase
import LarderCore

/// A request and the head of its answer.
struct HTTPExchange: Sendable {
    let answer: HTTPAnswer
    /// The time at which the request was sent.
    let askedAt: Timestamp
    /// The time at which the head of the answer arrived.
    let arrivedAt: Timestamp
    /// Whether the server was asked if a copy is still current.
    let isConditional: Bool
    /// Whether this request, or one that led to it, had credentials in the field `Authorization`.
    let isAuthorized: Bool
    /// The way of the request up to here.
    let route: HTTPRoute

    /// Notes how the answer was asked for in its metadata.
    func note(in metadata: inout Metadata, at now: Timestamp) {
        metadata[.isAuthorized] = isAuthorized ? 1 : nil
        metadata[.redirectTarget] = route.followed > 0 ? route.target : nil
        route.rules.note(in: &metadata, at: now)
    }
}

extension HTTPRoute {
    /// The digest of the URL to ask next.
    fileprivate var target: String { SHA256.hex(request.url.utf8) }

    /// Returns the request to send next. If it goes to the URL from which a copy came, it asks whether that is current.
    /// The same tag at another URL says nothing about the copy.
    func request(confirming known: Metadata?) -> (request: HTTPRequest, isConditional: Bool) {
        guard let known, HTTPRequestFields.mayConfirm(request.method) else { return (request, false) }
        let isSource = known[.redirectTarget].map { $0 == target } ?? (followed == 0)
        let conditions = isSource ? HTTPRequestFields.conditions(confirming: known) : []
        var request = request
        request.fields += conditions
        return (request, !conditions.isEmpty)
    }
}

extension NoteKey where Value == String {
    /// The digest of the URL to which redirects led; none if there was no redirect.
    static var redirectTarget: NoteKey { NoteKey("http.target") }
}
