import LarderSystem
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
    /// Whether the server was asked for the rest of an answer that broke off.
    let isResuming: Bool
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
    var target: String { SHA256.hex(request.url.utf8) }

    /// The conditions of a request that is sent.
    struct Conditions {
        /// Whether the server is asked if a copy is still current.
        var isConditional = false
        /// Whether the server is asked for the rest of an answer that broke off.
        var isResuming = false
    }

    /// Returns the request to send next. If it goes to the URL from which a copy came, it asks whether that is current.
    /// The same tag at another URL says nothing about the copy. In the same way, it asks for the rest of an answer.
    func request(
        confirming known: Metadata?, resuming resumption: HTTPResumption?
    ) -> (request: HTTPRequest, conditions: Conditions) {
        var (request, conditions) = (request, Conditions())
        if let known, HTTPRequestFields.mayConfirm(request.method) {
            let isSource = known[.redirectTarget].map { $0 == target } ?? (followed == 0)
            let fields = isSource ? HTTPRequestFields.conditions(confirming: known) : []
            request.fields += fields
            conditions.isConditional = !fields.isEmpty
        }
        if let resumption, request.method == "GET", resumption.isOf(target) {
            request.fields += resumption.fields
            conditions.isResuming = true
        }
        return (request, conditions)
    }
}

extension NoteKey where Value == String {
    /// The digest of the URL to which redirects led; none if there was no redirect.
    static var redirectTarget: NoteKey { NoteKey("http.target") }
}
