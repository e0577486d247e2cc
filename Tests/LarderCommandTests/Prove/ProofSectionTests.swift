import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand

/// Proofs of policies with sections that work in the background or have rules for networks.
@Suite struct ProofSectionTests {
    private static func folder(
        _ sections: String, _ promises: String, around: String = "", store: String = "\"memory\"",
        age: String = #"{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "1h" }, "#
    ) throws -> Folder {
        try ProveCommandTests.folder(
            promises,
            policy: """
                { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
                  "around": [\(around){ "use": "timeout", "after": "2s" }],
                  "strategy": { "use": "stale-while-revalidate", "patience": "1s" },
                  "validators": [\(age)"checksum"],
                  "store": \(store), \(sections)"promises": PROMISES }
                """)
    }

    @Test func workInTheBackgroundIsNotCountedAsCallsOfALoad() throws {
        let sections = """
            "prefetch": { "requests": [{}], "when": "start" }, "refresh": { "every": "1m" },
            """
        let folder = try Self.folder(sections, #"{ "callsPerLoad": 1 }"#)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.isProved && proof.gaps.isEmpty, "\(proof)")
    }
}
