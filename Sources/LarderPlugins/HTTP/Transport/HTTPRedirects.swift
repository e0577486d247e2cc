import LarderCore

/// A request on its way through redirects.
struct HTTPRoute: Sendable {
    /// The request to send next, without a signature.
    private(set) var request: HTTPRequest
    /// Whether all servers so far were the one that the policy names. Credentials are sent to no other.
    private(set) var isAtFirstServer = true
    /// The number of redirects that were followed.
    private(set) var followed = 0
    /// The status of the first redirect; nil if none was followed.
    private(set) var firstStatus: Int?
    /// The rules of the redirects.
    private(set) var rules = RedirectRules()

    /// The statuses of redirects.
    static let redirectStatuses: Set = [301, 302, 303, 307, 308]

    /// Begins with the request of a policy.
    init(_ request: HTTPRequest) {
        self.request = request
    }

    /// Follows the redirect in an answer, if it is one.
    ///
    /// - Returns: false if the answer is no redirect.
    /// - Throws: ``LoadError`` if the redirect may not be followed.
    mutating func follow(_ exchange: HTTPExchange, atMost limit: Int) throws(LoadError) -> Bool {
        let answer = exchange.answer
        guard Self.redirectStatuses.contains(answer.status) else { return false }
        guard limit > 0 else { throw refused("the policy follows none", answer.status) }
        guard followed < limit else { throw refused("there were \(followed) before it", answer.status) }
        guard let location = answer.fields.first(where: { $0.name == "location" }),
            let address = HTTPAddress(request.url), let next = address.resolving(location.value)
        else { throw refused("it does not say where to", answer.status) }
        if address.server.isSecure, !next.server.isSecure {
            throw refused("it leads from https to http", answer.status)
        }
        followed += 1
        firstStatus = firstStatus ?? answer.status
        rules.add(
            answer, askedAt: exchange.askedAt, arrivedAt: exchange.arrivedAt, isAuthorized: exchange.isAuthorized)
        // As all browsers do it: the result of a form is fetched.
        if answer.status == 303 && request.method != "HEAD" || answer.status <= 302 && request.method == "POST" {
            request.method = "GET"
            request.body = nil
            request.fields.removeAll { $0.name.hasPrefix("content-") }
        }
        if next.server != address.server {
            if request.body != nil { throw refused("it would send the body to another server", answer.status) }
            isAtFirstServer = false
            request.fields.removeAll { !HTTPRequestFields.isSafeForOtherServers($0.name) }
        }
        request.url = next.url
        return true
    }

    /// Returns the error of a change that the server has answered with `status`, or with a redirect before, and whose answer
    /// cannot be used.
    func failure(of change: any Error, answered status: Int? = nil) -> any Error {
        guard let status = firstStatus ?? status, !(change is CancellationError),
            (change as? LoadError)?.cause != .redirect
        else { return change }
        let reason = (change as? HTTPFailure).map { LoadError($0) } ?? LoadError.meaning(of: change)
        let beginning = firstStatus == nil ? "" : "the change was answered with a redirect, which leads to a failure: "
        var failure = LoadError(
            reason?.code ?? .failed, beginning + (reason?.message ?? "no answer"), status: status,
            retryAfter: reason?.retryAfter, cause: firstStatus == nil ? reason?.cause : .redirect, origin: change)
        failure.reply = reason?.reply
        return failure
    }

    private func refused(_ reason: String, _ status: Int) -> LoadError {
        LoadError(.failed, "the server's redirect is not followed: \(reason)", status: status, cause: .redirect)
    }
}
