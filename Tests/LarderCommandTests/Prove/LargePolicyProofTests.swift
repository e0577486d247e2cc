import Testing

/// A proof of a policy with ten tiers, and with every wrapper and validator.
@Suite struct LargePolicyProofTests {
    private static let tiers = """
        { "use": "memory", "capacity": "1MB" }, { "use": "memory", "capacity": "2MB" },
        { "use": "memory", "capacity": "4MB" },
        { "use": "file", "directory": "a", "limit": "500ms" }, { "use": "file", "directory": "b", "limit": "500ms" },
        { "use": "file", "directory": "c", "limit": "500ms" }, { "use": "file", "directory": "d", "limit": "500ms" },
        { "use": "sqlite", "file": "e.sqlite", "limit": "500ms" },
        { "use": "sqlite", "file": "f.sqlite", "limit": "500ms" }, { "use": "sqlite", "file": "g.sqlite", "limit": "500ms" }
        """

    private static let policy = """
        { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
          "around": [
            { "use": "limit", "concurrent": 4 }, { "use": "breaker", "failures": 2, "rest": "30s" },
            { "use": "retry", "retries": 1, "backoff": "500ms" }, { "use": "hedge", "after": "1s" },
            { "use": "timeout", "after": "2s" }],
          "strategy": { "use": "stale-while-revalidate", "patience": "1s" },
          "validators": [
            { "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "6h" },
            { "use": "http", "fresh": "5m", "whileRevalidating": "1h", "onError": "6h" },
            { "use": "content-type", "allowed": ["application/json"] }, { "use": "max-size", "capacity": "5MB" },
            { "use": "entry-version", "version": 3 }, "checksum"],
          "store": { "use": "tiered", "tiers": [\(tiers)] },
          "promises": PROMISES }
        """

    @Test func checkLeavesPromisesOfALargePolicyToProve() async throws {
        let promises = """
            { "neverOlderThan": "365m", "waits": "12s", "waitsAtMost": "40s", "offlineFor": "5h", "freshWithin": "3h" }
            """
        let policy = Self.policy.replacing(
            #"{ "use": "limit", "concurrent": 4 },"#,
            with: #"{ "use": "timeout", "after": "20s" }, { "use": "limit", "concurrent": 4 },"#)
        let folder = try ProveCommandTests.folder(promises, policy: policy)
        let output = await Output(["check", folder.path])
        #expect(
            output.err.hasSuffix("; not proved: the promises of prices (--prove proves them)\n"),
            "\(output.out)\(output.err)")
    }

    @Test func policyWithTenTiersIsProved() async throws {
        let folder = try ProveCommandTests.folder(#"{ "callsPerLoad": 4 }"#, policy: Self.policy)
        let output = await Output(["prove", "--policies", folder.path])
        #expect(output.code == 0, "\(output.out)\(output.err)")
        let lines = output.out.split(separator: "\n")
        let words = try #require(lines.first).split(separator: " ")
        #expect(words.count == 3 && words[0] == "prices:" && words[2] == "situations", "\(output.out)")
        #expect(try #require(Int(words[1])) > 1_000)
        #expect(lines.dropFirst().first?.hasPrefix("  ✓ callsPerLoad 4: proved for ") == true, "\(output.out)")
    }
}
