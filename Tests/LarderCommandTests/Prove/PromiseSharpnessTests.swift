import FoundationEssentials
import Larder
import LarderBase
import LarderSimulation
import Testing

@testable import LarderCommand

/// Promises that random policies keep narrowly, and that a change of one setting breaks.
@Suite struct PromiseSharpnessTests {
    @Test func promisesThatAChangedSettingBreaksAreRefuted() throws {
        let size = ProofTrials.size(.sharpness)
        let results = ParallelMap.results(for: size.policies, inRangesOf: 1) { range in
            range.map { number in Result { try Self.faults(seed: UInt64(size.first + number)) } }
        }
        for result in results {
            for text in try result.get() { Issue.record("\(text)") }
        }
    }

    /// The largest number of histories in which one that breaks a promise is looked for.
    private static let mostHistories = 400

    /// Changes a setting of a random policy so that a promise is broken, and returns the faults of the proofs.
    private static func faults(seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let name = RandomPromise.names[Int(seed) % RandomPromise.names.count]
        while true {
            let trial = try ProofTrials(random.next())
            guard let limit = try trial.needed([name])[name] ?? nil else { continue }
            let promise = RandomPromise(name: name, limit: limit)
            var changes = trial.policy.changes(against: name, &random)
            for last in changes.indices.reversed() { changes.swapAt(last, random.roll(last + 1)) }
            for changed in changes {
                guard let broken = try history(breaking: promise, of: changed, seed: random.next()) else { continue }
                var faults: [String] = []
                let folder = try ProofTrials.folder(trial.policy, promising: [promise])
                let kept = try PromiseProof(of: "prices", in: folder.url)
                if !kept.isProved { faults.append("seed \(seed): the limit that is needed is not enough: \(kept)") }
                let other = try ProofTrials.folder(changed, promising: [promise])
                if try PromiseProof(of: "prices", in: other.url).isProved {
                    faults.append("seed \(seed): \(promise.name) \(limit) is not refuted: \(broken)")
                }
                return faults.map { $0 + "\n" + changed.text(promising: [promise]) }
            }
        }
    }

    /// Returns a history in which a policy breaks a promise, as far as it is found soon.
    private static func history(
        breaking promise: RandomPromise, of policy: RandomPolicy, seed: UInt64
    ) throws -> String? {
        if !ProofTrials.isComplete(in: try ProofTrials.folder(policy, promising: [promise])) { return nil }
        let folder = try ProofTrials.folder(policy, promising: [promise])
        let player = try SituationPlayer(of: "prices", in: folder.url)
        let judge = OutsideJudge(policy: policy, player: player)
        var histories = RandomHistories(of: policy, promising: [promise], seed: seed)
        for _ in 0..<mostHistories {
            let history = histories.next()
            let seen = try player.play(history.situation)
            if try judge.isBroken(promise, by: seen, in: history) { return "\(history.situation.inWords): \(seen)" }
        }
        return nil
    }
}
