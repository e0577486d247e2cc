import Foundation
import Larder
import LarderSystem
import LarderCommand
import LarderSimulation
import LarderStories

/// A random policy with random promises, judged from outside in random histories.
struct Soundness {
    private let number: UInt64
    private let histories: Int
    private let policy: RandomPolicy
    private let promises: [RandomPromise]
    private let folder: TemporaryFolder

    init(_ number: UInt64, _ options: ProofRunOptions) throws {
        var trial = try ProofTrial(number, isSmall: options.isSmall)
        self.number = number
        histories = options.histories
        policy = trial.policy
        promises = trial.promises()
        folder = try ProofTrial.folder(policy, promising: promises)
    }

    func tally() async throws -> Tally {
        let proof = try PromiseProof(of: "prices", in: folder.url)
        // The limit beside a promise that is broken is said to hold, too.
        let kept = proof.verdicts.compactMap { verdict in
            (verdict.isProved ? verdict.limit : verdict.refutation?.needed).map {
                RandomPromise(name: verdict.promise, limit: $0)
            }
        }
        var tally = Tally(faults: try broken(kept))
        tally.proved = kept.count
        tally.histories = histories
        tally.refuted = proof.verdicts.count { !$0.isProved }
        tally.faults += try await replayed(proof)
        return tally
    }

    /// Returns the histories that break promises which are said to hold.
    private func broken(_ said: [RandomPromise]) throws -> [String] {
        var kept = said
        let player = try StoryPlayer(of: "prices", in: folder.url)
        let judge = OutsideJudge(policy: policy, player: player)
        var random = RandomHistories(of: policy, promising: promises + kept, seed: number)
        var faults: [String] = []
        for count in 0..<histories where !kept.isEmpty {
            let history = random.next()
            let seen = try player.play(history.situation)
            for promise in kept where try judge.isBroken(promise, by: seen, in: history) {
                let simplest = try judge.simplest(history, breaking: promise).situation
                faults.append(
                    """
                    policy \(number), history \(count): \(promise.name) \(promise.limit) is said to hold, but \
                    \(history.situation.inWords): \(seen)
                    simplest: \(simplest.inWords): \(try player.play(simplest))
                    \(history.situation)
                    \(policy.text(promising: promises))
                    """)
                kept.removeAll { $0 == promise }
            }
        }
        return faults
    }

    /// Plays refutations as scenarios. Returns what `larder test` prints if one passes, or one fails although the promise is
    /// loosened.
    private func replayed(_ proof: PromiseProof) async throws -> [String] {
        var faults: [String] = []
        for isLoosened in [false, true] {
            let scenarios = proof.verdicts.compactMap { verdict in
                (isLoosened ? verdict.refutation?.needed : verdict.limit).flatMap {
                    proof.scenario(of: verdict, promising: $0)
                }
            }
            if scenarios.isEmpty { continue }
            let file: JSON = ["resource": "prices", "scenarios": .list(scenarios)]
            let place = isLoosened ? "Loosened" : "Broken"
            try folder.write(file.text(), to: "\(place)/prices.json")
            let output = Locked("")
            let terminal = Terminal { bytes in
                output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            } err: { bytes in
                output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            }
            let arguments = ["test", "--policies", folder.path, folder.path + "/" + place]
            _ = await LarderCommand.run(arguments, environment: [:], terminal: terminal)
            let text = output.withLock { $0 }
            let sum = isLoosened ? "\(scenarios.count) passed, 0 failed" : "0 passed, \(scenarios.count) failed"
            if !text.contains(": \(sum)\n") {
                faults.append("policy \(number), \(place): \(text)\n\(policy.text(promising: promises))")
            }
        }
        return faults
    }
}
