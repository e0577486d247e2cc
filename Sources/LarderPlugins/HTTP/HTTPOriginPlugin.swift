import LarderSystem
import LarderCore

/// The settings of the origin `http`.
struct HTTPSettings {
    let url = Setting("url", .url, help: "The URL, with variables as in \"https://example.com/items/{id}{?page}\"")
        .identifiesData().alsoCalled("endpoint", "uri", "baseURL", "href", "path")
    let method = Setting(
        "method", .choice(["GET", "HEAD", "POST", "QUERY"]), default: "GET",
        help: "The method of lookups; POST and QUERY send the request's body"
    ).identifiesData()
    let fields = Setting(
        "fields", .fields, default: [],
        help: "Header fields of every request; secret values come from the environment, as in \"${TOKEN}\""
    ).calledFields()
    let accept = Setting(
        "accept", .accept, default: HTTPAccept([]),
        help: "The media types that are asked for; an answer of another type is a failure"
    ).identifiesData()
    let statuses = Setting(
        "statuses", .list(of: .int(200...599), atLeast: 1), default: [200, 203, 204],
        help: "The statuses of answers that are data; 4xx that are not listed are errors of the request")
    let redirects = Setting(
        "redirects", .int(0...20), default: 5,
        help: "How many redirects are followed; never from https to http")
    let capacity = Setting(
        "capacity", .size, default: 64_000_000,
        help: "The largest size of an answer after it was unpacked; a larger one is a failure")
    let connectLimit = Setting(
        "connectLimit", optional: .duration(.milliseconds(1) ... .forever),
        help:
            "How long the connection to the server may take (default: 10s). It cannot be set on Apple platforms, where it is part of firstByteLimit"
    )
    let firstByteLimit = Setting(
        "firstByteLimit", .duration(.milliseconds(1) ... .forever), default: .seconds(30),
        help: "How long the server may take until the first byte of its answer")
    let limit = Setting(
        "limit", .duration(.milliseconds(1) ... .forever), default: .seconds(60),
        help: "How long a call may take until the last byte of its answer, with all redirects"
    ).calledTimeout()
    let connections = Setting(
        "connections", .int(1...256), default: 6, help: "How many connections to a server may be open")
    let authorities = Setting(
        "authorities", optional: .path,
        help: "A file with the only authorities whose certificates are trusted, in PEM (default: the system's)")
    let resume = Setting(
        "resume", .flag, default: true,
        help: "Whether a large answer that breaks off goes on where it stopped, if the server can")
    let sign = Setting("sign", optional: .part(.signer), help: "The signer that adds credentials of the account")
    let anonymous = Setting(
        "anonymous", .flag, default: false,
        help: "Whether calls are made without credentials while nobody is signed in")
    let formerly = Setting(
        "formerly", .list(of: .url), default: [],
        help: "Earlier URLs that gave the same data, so that their copies are still used"
    ).formerValues(of: "url")
}

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
            .group(HTTPSettings()),
            traits: { settings in
                let (url, method) = (settings.url, settings.method)
                return .with {
                    $0.acceptsSends = true
                    $0.allowsAnonymous = settings.anonymous
                    $0.needsNoNetwork = url.server.isThisDevice
                    $0.requiredParameters = url.required
                    $0.parameters = url.template.variables
                    $0.invalidates = {
                        HTTPInvalidation.selections(after: $0, method: $1, answer: $2, at: url, lookup: method)
                    }
                    $0.addedFields = HTTPRequestFields.added(by: settings.fields, accept: settings.accept)
                    $0.givesUpAfter = settings.limit < .forever ? settings.limit : nil
                    $0.contradictions = contradictions(of: settings)
                    if settings.connectLimit != nil, !Transport.limitsConnecting {
                        $0.contradictions.append(.connecting)
                    }
                }
            }
        ) { context, settings in
            HTTPOrigin(
                settings: settings,
                credentials: try settings.sign.map {
                    try HTTPCredentials(
                        $0, allowsAnonymous: settings.anonymous, within: settings.limit, in: context)
                },
                payloads: HTTPPayloads(capacity: settings.capacity, context: context),
                transport: try transport(context, settings.connections), world: context.world)
        }
    }

    private static func contradictions(of settings: SettingValues<HTTPSettings>) -> [Contradiction] {
        var found: [Contradiction] = []
        if settings.authorities != nil, !settings.url.server.isSecure {
            found.append(Contradiction("authorities", "certificates are not checked: the URL begins with http://"))
        }
        if settings.anonymous, settings.sign == nil {
            found.append(Contradiction("anonymous", "all calls are anonymous: there is no 'sign'"))
        }
        if settings.statuses.contains(where: { $0 == 206 || $0 == 304 }) {
            found.append(
                Contradiction("statuses", "206 and 304 are no whole answers", expected: "statuses of whole answers"))
        }
        if settings.statuses.contains(where: HTTPRoute.redirectStatuses.contains) {
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
