import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCommand
@testable import LarderStories

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

    @Test func networkThatCostsRefutesFreshnessIfRefreshesWaitForABetterOne() async throws {
        let folder = try Self.folder(#""expensive": { "refresh": false }, "#, #"{ "freshWithin": "10m" }"#)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.verdicts.first?.refutation?.story.isNetworkCostly == true && proof.gaps.isEmpty, "\(proof)")
        #expect("\(proof)".contains("the device knows that it has a network, which costs"), "\(proof)")
        let verdict = try #require(proof.verdicts.first)
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "Scenarios"), withIntermediateDirectories: true)
        let loosened = try #require(verdict.refutation?.needed)
        for (limit, result) in [(verdict.limit, "0 passed, 1 failed\n"), (loosened, "1 passed, 0 failed\n")] {
            let scenario = try #require(proof.scenario(of: verdict, promising: limit))
            let file: JSON = ["resource": "prices", "scenarios": .list([scenario])]
            try folder.write(file.text(), to: "Scenarios/prices.json")
            let output = await Output(["test", "--policies", folder.path, folder.path + "/Scenarios"])
            #expect(output.out.hasSuffix(result), "\(output.out)\(output.err)")
        }
        let without = try Self.folder(#""expensive": {}, "#, #"{ "freshWithin": "10m" }"#)
        #expect(try PromiseProof(of: "prices", in: without.url).isProved)
    }

    @Test func limitOfCallsIsNotComplete() throws {
        let limit = #"{ "use": "limit", "concurrent": 2 }, "#
        let folder = try Self.folder("", #"{ "callsPerLoad": 1 }"#, around: limit)
        #expect(try PromiseProof(of: "prices", in: folder.url).gaps == ["wrapper 'limit' tells no borders"])
    }

    @Test func lifetimeThatDecidesAgesIsNotComplete() throws {
        let store = #"{ "use": "memory", "forgetAfter": "30m" }"#
        let folder = try Self.folder("", #"{ "neverOlderThan": "30m" }"#, store: store, age: "")
        let proof = try PromiseProof(of: "prices", in: folder.url)
        #expect(proof.isProved, "\(proof)")
        #expect(
            proof.gaps == [
                "store 'memory' forgets copies after 30m, but not those that an app keeps, which are not played"
            ])
    }

    @Test func storeWithoutALimitIsNotComplete() throws {
        let store = "\"file\""
        let folder = try Self.folder("", #"{ "neverOlderThan": "1d" }"#, store: store)
        #expect(
            try PromiseProof(of: "prices", in: folder.url).gaps == [
                "store 'file' has no 'limit', and operations of more than 1h are not played"
            ])
    }
}
