import LarderSystem
import LarderCore

extension Plugin {
    /// An origin that asks an HTTP server.
    static let http = Plugin.http { context, connections in
        // Resources with the same number of connections share them.
        let name = "\(connections)"
        #if canImport(Darwin)
            return context.share(name) { URLSessionTransport(world: context.world, connectionsPerHost: connections) }
        #else
            return try context.share(name) { try CurlTransport(world: context.world, connectionsPerHost: connections) }
        #endif
    }

    /// An origin that asks an HTTP server over a transport.
    ///
    /// - Parameter transport: returns the transport with at most this number of connections to each server.
    static func http<Transport: HTTPTransport>(
        over transport: @escaping @Sendable (Context, Int) throws -> Transport
    ) -> Plugin {
        .origin(
            "http", "Asks an HTTP server. Parameters of the request stand in the URL where its variables are.",
            Setting("url", .url, help: "The URL, with variables as in \"https://example.com/items/{id}{?page}\"")
                .identifiesData(),
            Setting(
                "method", .choice(["GET", "HEAD", "POST", "QUERY"]), default: "GET",
                help: "The method of lookups; POST and QUERY send the request's body"
            ).identifiesData(),
            Setting(
                "fields", .fields, default: [],
                help: "Header fields of every request; secret values come from the environment, as in \"${TOKEN}\""),
            Setting(
                "accept", .accept, default: HTTPAccept([]),
                help: "The media types that are asked for; an answer of another type is a failure"
            ).identifiesData(),
            Setting(
                "statuses", .list(of: .int(200...599), atLeast: 1), default: [200, 203, 204],
                help: "The statuses of answers that are data; 4xx that are not listed are errors of the request"),
            Setting(
                "redirects", .int(0...20), default: 5,
                help: "How many redirects are followed; never from https to http"),
            Setting(
                "capacity", .size, default: 64_000_000,
                help: "The largest size of an answer after it was unpacked; a larger one is a failure"),
            Setting(
                "connectLimit", optional: .duration(.milliseconds(1) ... .forever),
                help:
                    "How long the connection to the server may take (default: 10s). It cannot be set on Apple platforms, where it is part of firstByteLimit"
            ),
            Setting(
                "firstByteLimit", .duration(.milliseconds(1) ... .forever), default: .seconds(30),
                help: "How long the server may take until the first byte of its answer"),
            Setting(
                "limit", .duration(.milliseconds(1) ... .forever), default: .seconds(60),
                help: "How long a call may take until the last byte of its answer, with all redirects"),
            Setting("connections", .int(1...256), default: 6, help: "How many connections to a server may be open"),
            Setting(
                "authorities", optional: .path,
                help: "A file with the only authorities whose certificates are trusted, in PEM (default: the system's)"),
            Setting(
                "resume", .flag, default: true,
                help: "Whether a large answer that breaks off goes on where it stopped, if the server can"),
            Setting("sign", optional: .part(.signer), help: "The signer that adds credentials of the account"),
            Setting(
                "anonymous", .flag, default: false,
                help: "Whether calls are made without credentials while nobody is signed in"),
            Setting(
                "formerly", .list(of: .url), default: [],
                help: "Earlier URLs that gave the same data, so that their copies are still used"
            ).formerValues(of: "url"),
            traits: {
                url, method, fields, accept, statuses, _, _, connectLimit, _, limit, _, authorities, _, sign, anonymous,
                _ in
                Traits().with {
                    $0.acceptsSends = true
                    $0.allowsAnonymous = anonymous
                    $0.needsNoNetwork = url.server.isThisDevice
                    $0.requiredParameters = url.required
                    $0.parameters = url.template.variables
                    $0.invalidates = {
                        HTTPInvalidation.selections(after: $0, method: $1, answer: $2, at: url, lookup: method)
                    }
                    $0.addedFields = HTTPRequestFields.added(by: fields, accept: accept)
                    $0.givesUpAfter = limit < .forever ? limit : nil
                    $0.contradictions = contradictions(
                        url: url, statuses: statuses, authorities: authorities, sign: sign, anonymous: anonymous)
                    if connectLimit != nil, !Transport.limitsConnecting { $0.contradictions.append(.connecting) }
                }
            }
        ) {
            context, url, method, fields, accept, statuses, redirects, capacity, connectLimit, firstByteLimit, limit,
            connections, authorities, resume, sign, anonymous, _ in
            let settings = HTTPSettings(
                url: url, method: method, fields: fields, accept: accept, statuses: Set(statuses),
                redirects: redirects,
                limits: HTTPLimits(
                    connect: connectLimit ?? .seconds(10), firstByte: firstByteLimit, whole: limit,
                    // The explanation of an error may be larger than the data.
                    capacity: max(capacity, 1 << 20)),
                trust: HTTPTrust(authorities: authorities), resumes: resume)
            return HTTPOrigin(
                settings: settings,
                credentials: try sign.map {
                    try HTTPCredentials($0, allowsAnonymous: anonymous, within: limit, in: context)
                },
                payloads: HTTPPayloads(capacity: capacity, context: context),
                transport: try transport(context, connections), world: context.world)
        }
    }

    private static func contradictions(
        url: HTTPURL, statuses: [Int], authorities: String?, sign: Part?, anonymous: Bool
    ) -> [Contradiction] {
        var found: [Contradiction] = []
        if authorities != nil, !url.server.isSecure {
            found.append(Contradiction("authorities", "certificates are not checked: the URL begins with http://"))
        }
        if anonymous, sign == nil {
            found.append(Contradiction("anonymous", "all calls are anonymous: there is no 'sign'"))
        }
        if statuses.contains(where: { $0 == 206 || $0 == 304 }) {
            found.append(
                Contradiction("statuses", "206 and 304 are no whole answers", expected: "statuses of whole answers"))
        }
        if statuses.contains(where: HTTPRoute.redirectStatuses.contains) {
            found.append(
                Contradiction(
                    "statuses", "301, 302, 303, 307 and 308 are redirects, which are followed or refused, never data",
                    expected: "statuses of data"))
        }
        return found
    }
}

extension Contradiction {
    /// A policy limits the time of connecting over a transport that cannot.
    fileprivate static let connecting = Contradiction(
        "connectLimit", "connecting alone cannot be limited here: the time to connect is part of 'firstByteLimit'",
        expected: "'firstByteLimit' instead")
}
