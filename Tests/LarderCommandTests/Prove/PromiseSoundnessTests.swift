import FoundationEssentials
import Larder
import LarderBase
import LarderSimulation
import Testing

@testable import LarderCommand

/// Random policies with random promises, judged from outside in random histories.
@Suite struct PromiseSoundnessTests {
    @Test func provedPromisesAreNotBrokenByAnyHistory() throws {
        let size = ProofTrials.size(.soundness)
        let faults = ParallelMap.results(for: size.policies, inRangesOf: 1) { range in
            range.map { number in
                Result { try Self.faults(seed: UInt64(size.first + number), histories: size.histories) }
            }
        }
        var proved = 0
        for fault in faults {
            let (count, texts) = try fault.get()
            proved += count
            for text in texts { Issue.record("\(text)") }
        }
        #expect(proved > size.policies)
    }

    /// Returns the number of promises of a random policy that are proved, and those that random histories break.
    private static func faults(seed: UInt64, histories: Int) throws -> (proved: Int, faults: [String]) {
        var trial = try ProofTrials(seed)
        let promises = trial.promises()
        let folder = try trial.folder(promising: promises)
        let proof = try PromiseProof(of: "prices", in: folder.url)
        // The limit beside a promise that is broken is said to hold, too.
        var kept = proof.verdicts.compactMap { verdict in
            (verdict.isProved ? verdict.limit : verdict.refutation?.needed).map {
                RandomPromise(name: verdict.promise, limit: $0)
            }
        }
        let count = kept.count
        let player = try SituationPlayer(of: "prices", in: folder.url)
        let judge = OutsideJudge(policy: trial.policy, player: player)
        var random = RandomHistories(of: trial.policy, promising: promises + kept, seed: seed)
        var faults: [String] = []
        for number in 0..<histories where !kept.isEmpty {
            let history = random.next()
            let seen = try player.play(history.situation)
            for promise in kept where try judge.isBroken(promise, by: seen, in: history) {
                let simplest = try judge.simplest(history, breaking: promise).situation
                faults.append(
                    """
                    seed \(seed), history \(number): \(promise.name) \(promise.limit) is said to hold, but \
                    \(history.situation.inWords): \(seen)
                    simplest: \(simplest.inWords): \(try player.play(simplest))
                    \(history.situation)
                    \(trial.policy.text(promising: promises))
                    """)
                kept.removeAll { $0 == promise }
            }
        }
        return (count, faults)
    }
}
