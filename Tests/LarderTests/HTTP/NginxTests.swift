import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

/// The servers that `Tests/http-servers` started for the tests in this file and in `NetworkTests.swift`.
struct TestServers {
    /// The servers; nil if the tests do not run under `Tests/http-servers`.
    static let current = TestServers()

    /// The URLs of nginx without and with TLS.
    let http, https: String
    /// The paths of the authority that signed the certificate of nginx, and of another one.
    let authority, stranger: String

    init?() {
        let environment = ProcessInfo.processInfo.environment
        guard let http = environment["LARDER_HTTP"], let https = environment["LARDER_HTTPS"],
            let authority = environment["LARDER_AUTHORITY"], let stranger = environment["LARDER_STRANGER"]
        else { return nil }
        (self.http, self.https, self.authority, self.stranger) = (http, https, authority, stranger)
    }
}

@Suite(.enabled(if: TestServers.current != nil, "Tests/http-servers runs it"), .timeLimit(.minutes(20)))
struct NginxTests {
    private let servers: TestServers

    init() throws {
        servers = try #require(TestServers.current)
    }

    @Test(arguments: TestedTransport.allCases)
    func fileHasValidatorsAndIsUnchangedLater(_ tested: TestedTransport) async throws {
        let (transport, url) = (try tested.make(), servers.http + "/small.json")
        let first = try await transport.fetch(url)
        #expect(first.status == 200 && first.text == "{\"a\": 1}\n")
        let etag = try #require(first["etag"])
        let modified = try #require(first["last-modified"])
        #expect(modified == "Tue, 14 Nov 2023 22:13:20 GMT")
        for fields in [["If-None-Match": etag], ["If-Modified-Since": modified]] as [KeyValuePairs] {
            let later = try await transport.fetch(url, "GET", fields)
            #expect(later.status == 304 && later.body.isEmpty && later["etag"] == etag)
        }
        #expect(try await transport.fetch(url, "GET", ["If-None-Match": "\"other\""]).status == 200)
        let head = try await transport.fetch(url, "HEAD")
        #expect(head.body.isEmpty && head["etag"] == etag && head["content-length"] == "9")
    }

    @Test(arguments: TestedTransport.allCases)
    func compressedFileIsDecoded(_ tested: TestedTransport) async throws {
        let answer = try await tested.make().fetch(servers.http + "/large.txt")
        #expect(answer.body == Data(String(repeating: "Hello, world.\n", count: 20_000).utf8))
        #expect(answer["vary"] == "Accept-Encoding" && answer["content-encoding"] == nil)
        // A compressed answer has a weak validator.
        #expect(answer["etag"]?.hasPrefix("W/") == true)
    }

    @Test(arguments: TestedTransport.allCases)
    func answerVariesByLanguage(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        for (language, greeting) in [("en", "Hello"), ("de-AT", "Hallo"), ("fr", "Salut")] {
            let answer = try await transport.fetch(servers.http + "/greeting", "GET", ["Accept-Language": language])
            #expect(answer.text == greeting && answer["vary"]?.contains("Accept-Language") == true)
        }
    }

    @Test(arguments: TestedTransport.with(.unauthorized))
    func errorsOfServerAreAnswers(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let statuses = [
            "/missing": 404, "/moved": 302, "/secret": 401, "/upstream/silent": 504, "/upstream/closed": 502,
            "/absent/": 502,
        ]
        for (path, status) in statuses {
            #expect(try await transport.fetch(servers.http + path).status == status, "\(path)")
        }
        let large = String(repeating: "x", count: 100_000)
        #expect(try await transport.fetch(servers.http + "/", "POST", body: large).status == 413)
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func answerOfBrokenUpstreamIsReset(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        for path in ["/upstream/cut", "/upstream/chunks"] {
            #expect(try await transport.failure(servers.http + path).cause == .reset, "\(path)")
        }
        // nginx passes on what is no answer of HTTP.
        #expect(try await transport.failure(servers.http + "/upstream/garbage").cause == .malformed)
    }

    @Test(arguments: TestedTransport.allCases)
    func slowAnswerReachesLimit(_ tested: TestedTransport) async throws {
        var limits = HTTPLimits.ample
        limits.whole = .milliseconds(500)
        #expect(try await tested.make().failure(servers.http + "/trickle.txt", within: limits).cause == .timeout)
    }

    @Test(arguments: TestedTransport.with(.authorities, .version))
    func privateAuthorityIsTrustedAndSpeaksHTTP2(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let answer = try await transport.fetch(servers.https + "/large.txt", trusting: servers.authority)
        #expect(answer.status == 200 && answer.body.count == 280_000 && answer.version == "2")
        for path in ["/upstream/cut", "/upstream/chunks"] {
            #expect(
                try await transport.failure(servers.https + path, trusting: servers.authority).cause == .reset,
                "\(path)"
            )
        }
    }

    @Test(arguments: TestedTransport.with(.authorities))
    func manyRequestsShareConnectionOfHTTP2(_ tested: TestedTransport) async throws {
        let (transport, servers) = (try tested.make(connectionsPerHost: 1), servers)
        try await withThrowingTaskGroup(of: String.self) { group in
            for language in ["en", "de", "fr"] + (0..<60).map({ _ in "de" }) {
                group.addTask {
                    try await transport.fetch(
                        servers.https + "/greeting", "GET", ["Accept-Language": language], trusting: servers.authority
                    ).text
                }
            }
            var texts: [String: Int] = [:]
            for try await text in group { texts[text, default: 0] += 1 }
            #expect(texts == ["Hello": 1, "Hallo": 61, "Salut": 1])
        }
    }

    @Test(arguments: TestedTransport.with(.authorities))
    func otherAuthorityIsNotTrusted(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        // A connection for one set of authorities is no connection for another.
        _ = try await transport.fetch(servers.https + "/small.json", trusting: servers.authority)
        for authorities in [servers.stranger, nil, servers.stranger + ".missing"] {
            let failure = try await transport.failure(servers.https + "/small.json", trusting: authorities)
            #expect(failure.cause == .tls && !failure.description.contains("/"), "\(failure)")
        }
        _ = try await transport.fetch(servers.https + "/small.json", trusting: servers.authority)
    }

    @Test(arguments: TestedTransport.with(.authorities))
    func systemDoesNotTrustTestsAuthority(_ tested: TestedTransport) async throws {
        #expect(try await tested.make().failure(servers.https + "/small.json").cause == .tls)
    }

    @Test(arguments: TestedTransport.with(.authorities))
    func certificateOfOtherNameIsNotTrusted(_ tested: TestedTransport) async throws {
        let url = servers.https.replacing("localhost", with: "127.0.0.2") + "/small.json"
        // nginx does not listen there, unless it listens everywhere.
        let failure = try await tested.make().failure(url, trusting: servers.authority)
        #expect([.tls, .noConnection].contains(failure.cause))
    }
}
