import Foundation
import Larder
import LarderSimulation
import Testing
import LarderStories

/// Promises of policies with a validator of an app, with public API only.
@Suite struct PromiseBorderTests {
    /// A validator that permits copies until they are two hours old.
    private struct Perishable: Validator {
        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
            metadata.age(at: now) < .seconds(7_200)
                ? Permissions(.all).refusing(.fresh, "perishable") : Permissions(.all).refusing(.all, "perishable")
        }
    }

    private static func validator(tellsBorders: Bool) -> Plugin {
        .validator(
            "perishable", "Permits copies for two hours.",
            traits: { .with { $0.borders = tellsBorders ? [.seconds(7_200)] : nil } }
        ) { _ in Perishable() }
    }

    private static func proof(tellsBorders: Bool, _ promises: String) throws -> PromiseProof {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "milk", "origin": { "use": "sample", "payload": "catalog" },
              "around": [{ "use": "timeout", "after": "2s" }], "strategy": "network-first",
              "validators": ["perishable"], "store": "memory", "promises": \(promises) }
            """, to: "milk.json")
        var registry = Registry.standard
        try registry.register(validator(tellsBorders: tellsBorders))
        return try PromiseProof(of: "milk", in: folder.url, registry: registry)
    }

    @Test func validatorThatTellsItsBordersIsProvedCompletely() throws {
        let proof = try Self.proof(tellsBorders: true, #"{ "neverOlderThan": "2h" }"#)
        #expect(proof.isProved && proof.gaps.isEmpty, "\(proof)")
        let broken = try Self.proof(tellsBorders: true, #"{ "neverOlderThan": "7199998ms" }"#)
        let refutation = try #require(broken.verdicts.first?.refutation)
        #expect(refutation.story.copy?.age == .milliseconds(7_199_999))
        #expect(refutation.needed == .time(.seconds(7_200)))
    }

    @Test func validatorThatTellsNoBordersIsNotComplete() throws {
        let proof = try Self.proof(tellsBorders: false, #"{ "neverOlderThan": "2h" }"#)
        #expect(proof.gaps == ["validator 'perishable' tells no borders"])
        // The common ages are played, so a promise that is far off is refuted all the same.
        let broken = try Self.proof(tellsBorders: false, #"{ "neverOlderThan": "30m" }"#)
        #expect(!broken.isProved && broken.gaps.count == 1, "\(broken)")
    }

    private struct Quiet: Larder.Attachment {
        func permits(_ work: BackgroundWork, on network: NetworkState) -> Bool { network.kind != .wired }
    }

    @Test func rulesForNetworksThatAreNotPlayedAreNotComplete() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            { "resource": "milk", "origin": { "use": "sample", "payload": "catalog" }, "strategy": "network-only",
              "around": [{ "use": "timeout", "after": "2s" }], "quiet": {}, "promises": { "callsPerLoad": 1 } }
            """, to: "milk.json")
        var registry = Registry.standard
        try registry.register(
            .section(
                "quiet", "Refreshes nothing on a cable.",
                traits: { .with { $0.limitsBackgroundWork = true } }
            ) { _ in Quiet() })
        let proof = try PromiseProof(of: "milk", in: folder.url, registry: registry)
        #expect(
            proof.isProved && proof.gaps == ["section 'quiet' has rules for networks that are not played"], "\(proof)")
    }
}
