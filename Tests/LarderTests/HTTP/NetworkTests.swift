import LarderFoundation
import LarderSystem
import LarderCore
import Testing

@testable import LarderPlugins

// The suites of this file are run by `Tests/http-servers`, each in its own surroundings.

private func variable(_ name: String, is values: String...) -> Bool {
    ProcessInfo.processInfo.environment[name].map(values.contains) ?? false
}

/// Checks a failure, and that it comes within the limits.
private func expectFailure(
    _ causes: LoadError.Cause..., of tested: TestedTransport, _ url: String, trusting authorities: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let limits = HTTPLimits(connect: .seconds(3), firstByte: .seconds(4), whole: .seconds(5), capacity: 1_000_000)
    let world = SystemWorld()
    let start = world.uptime
    let failure = try await tested.make().failure(
        url, within: limits, trusting: authorities, sourceLocation: sourceLocation)
    #expect(causes.contains(failure.cause), "\(failure.cause): \(failure)", sourceLocation: sourceLocation)
    #expect(world.uptime - start < limits.whole + .seconds(2), sourceLocation: sourceLocation)
}

@Suite(.enabled(if: variable("LARDER_PROXY", is: "works"), "Tests/http-servers runs it"), .timeLimit(.minutes(20)))
struct ProxyTests {
    @Test(arguments: TestedTransport.allCases)
    func requestGoesThroughProxy(_ tested: TestedTransport) async throws {
        let servers = try #require(TestServers.current)
        let answer = try await tested.make().fetch(servers.http + "/small.json")
        #expect(answer.status == 200 && answer.text == "{\"a\": 1}\n")
    }

    @Test(arguments: TestedTransport.with(.authorities))
    func tunnelHidesAnswerOfProxy(_ tested: TestedTransport) async throws {
        let servers = try #require(TestServers.current)
        let answer = try await tested.make().fetch(servers.https + "/small.json", trusting: servers.authority)
        #expect(answer.status == 200 && answer.text == "{\"a\": 1}\n" && answer["x-proxy"] == nil)
    }
}

@Suite(
    .enabled(if: variable("LARDER_PROXY", is: "refuses", "is absent"), "Tests/http-servers runs it"),
    .timeLimit(.minutes(20)))
struct BrokenProxyTests {
    @Test(arguments: TestedTransport.with(.authorities))
    func proxyThatOpensNoTunnelIsFailureOfProxy(_ tested: TestedTransport) async throws {
        let servers = try #require(TestServers.current)
        // libcurl does not tell a proxy that cannot be reached from such a server.
        let kind = variable("LARDER_PROXY", is: "refuses") ? LoadError.Cause.proxy : .noConnection
        try await expectFailure(kind, of: tested, servers.https + "/small.json", trusting: servers.authority)
    }

    @Test(.enabled(if: variable("LARDER_PROXY", is: "is absent")), arguments: TestedTransport.with(.authorities))
    func absentProxyIsFailureToConnect(_ tested: TestedTransport) async throws {
        let servers = try #require(TestServers.current)
        try await expectFailure(.noConnection, of: tested, servers.http + "/small.json")
    }
}

@Suite(
    .enabled(if: variable("LARDER_OFFLINE", is: "link down"), "Tests/http-servers runs it"),
    .timeLimit(.minutes(20)))
struct OfflineTests {
    @Test(arguments: TestedTransport.with(.ipv6))
    func nameHasNoAddressWithoutNetwork(_ tested: TestedTransport) async throws {
        // A resolver may take longer to give up than the limit for connecting.
        try await expectFailure(.noAddress, .connectTimeout, .firstByteTimeout, of: tested, "http://canary.example/")
    }

    @Test(arguments: TestedTransport.with(.ipv6))
    func addressCannotBeReachedWithoutNetwork(_ tested: TestedTransport) async throws {
        for url in ["http://192.0.2.1/", "https://192.0.2.1/", "http://[2001:db8::1]/", "http://127.0.0.1:1/"] {
            try await expectFailure(.noConnection, of: tested, url)
        }
    }
}

@Suite(
    .enabled(if: variable("LARDER_OFFLINE", is: "only IPv6"), "Tests/http-servers runs it"),
    .timeLimit(.minutes(20)))
struct OnlyIPv6Tests {
    @Test(arguments: TestedTransport.with(.ipv6))
    func serverIsReachedByItsName(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(.ipv6) { _ in .answer(200, [:], "six") }
        for host in ["[::1]", "localhost"] {
            #expect(try await tested.make().fetch("http://\(host):\(server.port)/").text == "six")
        }
    }

    @Test(arguments: TestedTransport.with(.ipv6))
    func addressOfIPv4CannotBeReached(_ tested: TestedTransport) async throws {
        try await expectFailure(.noConnection, of: tested, "http://192.0.2.1/")
    }
}
