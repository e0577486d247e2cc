import FoundationEssentials
import Larder
import LarderBase
import LarderSimulation
import Testing

@testable import LarderCommand

/// Situations that break promises, played as scenarios by `larder test`.
@Suite struct PromiseReplayTests {
    @Test func refutationsFailAsScenariosAndPassWhenLoosened() async throws {
        let size = ProofTrials.size(.replay)
        let numbers = Locked(size.first..<size.first + size.policies)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while let number = numbers.withLock({ $0.popFirst() }) {
                        try await Self.replay(seed: UInt64(number) + 100_000)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func replay(seed: UInt64) async throws {
        var trial = try ProofTrials(seed)
        let promises = trial.promises()
        let folder = try trial.folder(promising: promises)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        let refuted = proof.verdicts.filter { !$0.isProved }
        for (name, isLoosened) in [("Broken", false), ("Loosened", true)] {
            let scenarios = refuted.compactMap { verdict in
                (isLoosened ? verdict.refutation?.needed : verdict.limit).flatMap {
                    proof.scenario(of: verdict, promising: $0)
                }
            }
            if scenarios.isEmpty { continue }
            let file: JSON = ["resource": "prices", "scenarios": .list(scenarios)]
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
            try folder.write(file.text(), to: "\(name)/prices.json")
            let output = await Output(["test", "--policies", folder.path, folder.path + "/" + name])
            let sum = isLoosened ? "\(scenarios.count) passed, 0 failed" : "0 passed, \(scenarios.count) failed"
            #expect(
                output.out.hasSuffix(": \(sum)\n"),
                "\(seed): \(output.out)\(output.err)\(trial.policy.text(promising: promises))")
        }
    }
}
