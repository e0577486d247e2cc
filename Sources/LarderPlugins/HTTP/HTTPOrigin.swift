import LarderSystem
import LarderFoundation
import LarderCore

/// A loader that asks an HTTP server.
struct HTTPOrigin: Loader {
    let settings: SettingValues<HTTPSettings>
    /// The credentials that are added to requests; nil if none are.
    let credentials: HTTPCredentials?
    let payloads: HTTPPayloads
    let transport: any HTTPTransport
    let world: any World

    var keepsLimit: Bool { transport.keepsLimits }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let owner = try credentials?.owner(of: call.request)
        do {
            let end = min(world.uptime + settings.limit, call.limit ?? .forever)
            let loaded = try await answer(to: call, owner, by: end)
            // An answer that arrives after its account has signed out is not kept. A change has been made all the same.
            if !call.isSend { try credentials?.check(owner) }
            return loaded
        } catch {
            // Nor does a copy take the place of a failure then.
            if !call.isSend, !(error is CancellationError) { try credentials?.check(owner) }
            throw (error as? HTTPFailure).map { LoadError($0) } ?? error
        }
    }

    private func answer(
        to call: Call, _ owner: String?, mayResume: Bool = true, by end: Duration
    ) async throws -> Loaded<Entry> {
        let request = try request(for: call)
        let known = call.isSend ? nil : call.known?.metadata
        let resumption = mayResume ? try await resumption(of: request, for: call, by: end) : nil
        let exchange = try await exchange(
            request, confirming: known, resuming: resumption, owner, isSend: call.isSend, by: end)
        let answer = exchange.answer
        if let resumption {
            switch resumption.verdict(on: exchange) {
            case .rest(let count): return try await rest(count, of: resumption, exchange, for: call, by: end)
            case .refused:
                answer.body.cancel()
                await discard(resumption)
                return try await self.answer(to: call, owner, mayResume: false, by: end)
            case .superseded: await discard(resumption)
            case .undecided: break
            }
        }
        if answer.status == 304, !call.isSend {
            guard let known, exchange.isConditional else {
                throw LoadError(
                    .failed, "the server answered 304, but was asked for no condition", status: 304, cause: .malformed)
            }
            // The copy is of another version, so the answer says nothing about it.
            if !known.isConfirmed(by: answer.allFields) {
                return try await self.answer(to: call.knowing(nil), owner, mayResume: false, by: end)
            }
            return try .unchanged(call) {
                try $0.confirm(
                    httpFields: answer.allFields, askedAt: exchange.askedAt, arrivedAt: exchange.arrivedAt)
                exchange.note(in: &$0, at: exchange.arrivedAt)
            }
        }
        let fields = answer.allFields
        let isAccepted = call.isSend ? 200...299 ~= answer.status : settings.statuses.contains(answer.status)
        guard isAccepted else {
            let failure = try await error(of: answer)
            throw call.isSend ? exchange.route.failure(of: failure) : failure
        }
        if !call.isSend { try checkType(fields["content-type"], answer.status) }
        let payload: Payload
        do {
            payload = try await payloads.payload(
                of: answer, to: request.method, keeping: { facts(of: exchange, to: request, for: call) }, by: end)
        } catch {
            throw call.isSend ? exchange.route.failure(of: error, answered: answer.status) : error
        }
        // The graph counts the age from now, so the time that the body took is a part of it.
        let now = world.now
        var metadata = Metadata(
            httpStatus: answer.status, fields: fields, askedAt: exchange.askedAt, arrivedAt: now)
        exchange.note(in: &metadata, at: now)
        if !call.isSend, request.body != nil { metadata.tags.append(HTTPInvalidation.tag(ofLookup: call.request)) }
        return Loaded(Entry(payload, metadata))
    }

    // MARK: Asking

    private func request(for call: Call) throws(LoadError) -> HTTPRequest {
        let method = call.method ?? settings.method
        guard Fields.Field(method, "") != nil, !["CONNECT", "TRACE"].contains(method.uppercased()) else {
            throw LoadError(.failed, "requests of this method cannot be sent")
        }
        let body = call.request.body
        if body != nil, ["GET", "HEAD"].contains(method) {
            throw LoadError(.failed, "a request with a body needs the method POST or QUERY, not \(method)")
        }
        let fields = try HTTPRequestFields.fields(
            of: call, policy: settings.fields, accept: settings.accept, hasBody: body != nil)
        return HTTPRequest(
            method: method, url: try settings.url.expanded(with: call.request.parameters.dictionary), fields: fields,
            body: body)
    }

    /// Sends a request, follows redirects, and renews credentials once.
    ///
    /// - Parameters:
    ///   - known: the facts of the copy that the server may confirm; nil if there is none.
    ///   - resumption: the beginning of an earlier answer, whose rest the server may send; nil if there is none.
    ///   - end: the uptime by which the answer must have arrived.
    private func exchange(
        _ request: HTTPRequest, confirming known: Metadata?, resuming resumption: HTTPResumption?, _ owner: String?,
        isSend: Bool, by end: Duration
    ) async throws -> HTTPExchange {
        var route = HTTPRoute(request)
        do {
            return try await exchange(on: &route, confirming: known, resuming: resumption, owner, by: end)
        } catch {
            throw isSend ? route.failure(of: error) : error
        }
    }

    private func exchange(
        on route: inout HTTPRoute, confirming known: Metadata?, resuming resumption: HTTPResumption?, _ owner: String?,
        by end: Duration
    ) async throws -> HTTPExchange {
        var mayRenew = true
        var isAuthorized = false
        if let owner { credentials?.enter(owner) }
        defer { if let owner { credentials?.leave(owner) } }
        while true {
            var (request, conditions) = route.request(confirming: known, resuming: resumption)
            var renewals = 0
            if let owner, let credentials, route.isAtFirstServer {
                renewals = credentials.renewals(of: owner)
                request = try await credentials.signed(request, for: owner, within: try timeLeft(until: end))
            }
            if request.fields.contains(where: { $0.name == "authorization" }) { isAuthorized = true }
            let asked = world.now
            let answer = try await transport.send(
                request, within: try limits(until: end), trusting: HTTPTrust(authorities: settings.authorities))
            let exchange = HTTPExchange(
                answer: answer, askedAt: asked, arrivedAt: world.now, isConditional: conditions.isConditional,
                isResuming: conditions.isResuming, isAuthorized: isAuthorized, route: route)
            if answer.status == 401, mayRenew, route.isAtFirstServer, let owner, let credentials {
                mayRenew = false
                if try await credentials.renew(owner, after: renewals, within: try timeLeft(until: end)) {
                    answer.body.cancel()
                    continue
                }
            }
            if try route.follow(exchange, atMost: settings.redirects) {
                answer.body.cancel()
                continue
            }
            return exchange
        }
    }

    /// The limits of an exchange that is one of several within the same limit.
    private func limits(until end: Duration) throws -> HTTPLimits {
        let whole = try timeLeft(until: end)
        return HTTPLimits(
            connect: min(settings.connectLimit ?? .seconds(10), whole),
            firstByte: min(settings.firstByteLimit, whole), whole: whole,
            // The explanation of an error may be larger than the data.
            capacity: max(settings.capacity, 1 << 20))
    }

    private func timeLeft(until end: Duration) throws(HTTPFailure) -> Duration {
        let left = end - world.uptime
        guard left > .zero else { throw HTTPFailure(.timeout, "the answer took too long") }
        return left
    }

    // MARK: Judging

    private func error(of answer: HTTPAnswer) async throws -> LoadError {
        let reply = Reply(
            status: answer.status, fields: Metadata.keptFields(of: answer.allFields),
            body: try await payloads.explanation(in: answer))
        return .status(answer.status, retryAfter: answer.retryAfter(at: world.now), reply: reply)
    }

    func checkType(_ type: String?, _ status: Int) throws(LoadError) {
        if settings.accept.ranges.isEmpty || status == 204 { return }
        guard let type else { throw LoadError(.failed, "the answer names no content type", status: status) }
        if !settings.accept.accepts(type) {
            throw LoadError(.failed, "the answer's content type is not among those accepted", status: status)
        }
    }
}

extension LoadError {
    /// The failure of an origin whose exchange with the server failed.
    init(_ failure: HTTPFailure) {
        let timeouts: [Cause] = [.connectTimeout, .firstByteTimeout, .timeout]
        let code = timeouts.contains(failure.cause) ? Code.timeout : .failed
        self.init(code, failure.description, cause: failure.cause, origin: failure)
    }
}
