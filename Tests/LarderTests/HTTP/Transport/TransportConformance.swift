import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

/// The transports that the conformance suite checks. The suite is all tests whose names begin with `Transport`.
enum TestedTransport: String, CaseIterable, CustomTestStringConvertible {
    #if canImport(Darwin)
        case urlSession = "URLSession"
    #else
        case curl = "libcurl"
    #endif

    /// An ability that not every transport has in this place.
    enum Ability: String, CaseIterable {
        case order = "repeated fields and the order of fields"
        case version = "the version of HTTP"
        case pausing = "a slow reader that holds the server back"
        case connectLimit = "a limit for connecting alone"
        case authorities = "private authorities"
        case brokenAnswers = "answers that are not valid or end early, and servers without TLS"
        case wholeBodies = "compressed bodies that end early"
        case rareAnswers = "trailers, and answers of HTTP/1.0 or without a reason"
        case unauthorized = "answers of 401"
        case ipv6 = "servers with IPv6 only"
    }

    /// The transports that have these abilities.
    static func with(_ abilities: Ability...) -> [TestedTransport] {
        allCases.filter { $0.missing.isDisjoint(with: abilities) }
    }

    var testDescription: String { rawValue }

    /// The abilities that cannot be checked here.
    var missing: Set<Ability> {
        switch self {
        #if canImport(Darwin)
            case .urlSession: [.order, .version, .connectLimit, .wholeBodies]
        #else
            case .curl: []
        #endif
        }
    }

    /// Returns a new transport.
    func make(connectionsPerHost: Int = 6) throws -> any HTTPTransport {
        switch self {
        #if canImport(Darwin)
            case .urlSession: URLSessionTransport(world: SystemWorld(), connectionsPerHost: connectionsPerHost)
        #else
            case .curl: try CurlTransport(world: SystemWorld(), connectionsPerHost: connectionsPerHost)
        #endif
        }
    }

    /// The origin `http` over the transport.
    var plugin: Plugin {
        switch self {
        #if canImport(Darwin)
            case .urlSession:
                .http { context, connections in
                    URLSessionTransport(world: context.world, connectionsPerHost: connections)
                }
        #else
            case .curl:
                .http { context, connections in
                    try CurlTransport(world: context.world, connectionsPerHost: connections)
                }
        #endif
        }
    }
}

@Suite struct TransportConformance {
    @Test(arguments: TestedTransport.allCases)
    func abilitiesThatCannotBeCheckedArePrinted(_ tested: TestedTransport) {
        let missing = TestedTransport.Ability.allCases.filter(tested.missing.contains).map(\.rawValue)
        print("\(tested.rawValue), not checked here: \(missing.isEmpty ? "nothing" : missing.joined(separator: "; "))")
    }
}

/// An answer with its whole body.
struct WholeAnswer {
    var status: Int
    var fields: [Fields.Field]
    var version: String
    var body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of a field, joined by commas; nil if the answer has no such field.
    subscript(name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension HTTPLimits {
    /// Limits that no test reaches on purpose.
    static let ample = HTTPLimits(
        connect: .seconds(300), firstByte: .seconds(300), whole: .seconds(600), capacity: 1_000_000_000)
}

extension HTTPTransport {
    /// Sends a request, and returns when the head of the answer has arrived.
    func begin(
        _ url: String, _ method: String = "GET", _ fields: KeyValuePairs<String, String> = [:], body: String? = nil,
        within limits: HTTPLimits = .ample, trusting authorities: String? = nil
    ) async throws -> HTTPAnswer {
        let request = HTTPRequest(
            method: method, url: url, fields: fields.compactMap { Fields.Field($0, $1) },
            body: body.map { Data($0.utf8) })
        return try await send(request, within: limits, trusting: HTTPTrust(authorities: authorities))
    }

    /// Sends a request, and returns the whole answer.
    func fetch(
        _ url: String, _ method: String = "GET", _ fields: KeyValuePairs<String, String> = [:], body: String? = nil,
        within limits: HTTPLimits = .ample, trusting authorities: String? = nil
    ) async throws -> WholeAnswer {
        let answer = try await begin(url, method, fields, body: body, within: limits, trusting: authorities)
        return WholeAnswer(
            status: answer.status, fields: answer.fields, version: answer.version, body: try await answer.body.whole())
    }

    /// Sends a request, and returns the failure of its answer. Any other end is an issue.
    func failure(
        _ url: String, _ fields: KeyValuePairs<String, String> = [:], within limits: HTTPLimits = .ample,
        trusting authorities: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> HTTPFailure {
        let failure = try await #require(throws: HTTPFailure.self, sourceLocation: sourceLocation) {
            _ = try await fetch(url, "GET", fields, within: limits, trusting: authorities)
        }
        let host = url.split(separator: "/").dropFirst().first?.split(separator: ":").first.map(String.init) ?? "?"
        #expect(!failure.description.contains(host), sourceLocation: sourceLocation)
        #expect(!failure.description.contains("canary"), sourceLocation: sourceLocation)
        #expect(!failure.description.isEmpty, sourceLocation: sourceLocation)
        return failure
    }
}

extension HTTPBody {
    /// Returns all bytes.
    func whole() async throws -> Data {
        var bytes = Data()
        while let next = try await next() { bytes += next }
        return bytes
    }
}
