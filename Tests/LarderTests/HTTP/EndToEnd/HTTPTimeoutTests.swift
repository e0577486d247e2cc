import LarderFoundation
import Larder
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderPlugins

/// Wrappers `timeout` around the origin `http`, which ends its calls itself.
@Suite(.timeLimit(.minutes(20))) struct HTTPTimeoutTests {
    private static func policy(_ after: String) -> String {
        #""around": [{ "use": "timeout", "after": "\#(after)" }], "strategy": "network-only""#
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHel"])
    func timeoutEndsRequestWhoseServerHangs(_ sent: String) async throws {
        let left = Gate()
        let server = try ScriptedServer(.steps(.send(sent), .silence, clientLeft: left))
        let served = try await ServedPantry(server, policy: Self.policy("50ms"))
        let error = await failure { try await served.feed.load() }
        #expect(error?.code == .timeout && error?.message == "timed out after 50 ms")
        try await left.opened()
    }

    @Test func limitOfOriginThatIsShorterThanTimeoutIsNamed() async throws {
        let server = try ScriptedServer(.steps(.silence))
        let served = try await ServedPantry(
            server, settings: #""firstByteLimit": "50ms""#, policy: Self.policy("10m"))
        let error = await failure { try await served.feed.load() }
        #expect(error?.code == .timeout && error?.message == "no answer within the limit")
    }

    @Test func timeoutIsTheLimitOfTheExchange() throws {
        let server = ScriptedTransport(ScriptedTransport.Answer())
        try server.run(strategy: #""network-only""#, more: #""around": [{ "use": "timeout", "after": "7s" }]"#) {
            simulated async throws in
            _ = try await simulated.resource.load()
        }
        #expect(server.asked.map(\.limits.whole) == [.seconds(7)])
    }
}
