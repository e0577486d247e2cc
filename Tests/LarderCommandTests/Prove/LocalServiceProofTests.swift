import Testing

/// Promises of policies whose service is on this device.
@Suite struct LocalServiceProofTests {
    private static func policy(_ host: String) -> String {
        """
        { "resource": "prices", "origin": { "use": "http", "url": "\(host)/prices/{id}" },
          "around": [{ "use": "timeout", "after": "5s" }], "strategy": "network-first",
          "validators": [{ "use": "age", "fresh": "1m", "onError": "1h" }], "store": "memory",
          "promises": PROMISES }
        """
    }

    @Test func serviceOnThisDeviceIsPlayedAsSlowAndFailing() async throws {
        func proof(_ host: String) async throws -> Output {
            let folder = try ProveCommandTests.folder(#"{ "waits": "1s" }"#, policy: Self.policy(host))
            return await Output(["prove", "--policies", folder.path])
        }
        for host in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]"] {
            let output = try await proof(host)
            #expect(output.code == 1, "\(host): \(output.out)\(output.err)")
            #expect(output.out.contains("✗ waits 1s: refuted"), "\(host): \(output.out)")
        }
        let remote = try await proof("https://api.example.com")
        #expect(remote.out.contains("✗ waits 1s: refuted"))
    }
}
