import Larder
import LarderSimulation
import LarderStories

/// A promise that a random policy keeps narrowly, and that a change of one setting breaks.
struct Sharpness {
    private let number: UInt64
    private let isSmall: Bool

    init(_ number: UInt64, _ options: ProofRunOptions) {
        self.number = number
        isSmall = options.isSmall
    }

    /// The largest number of histories in which one that breaks a promise is looked for.
    private static let mostHistories = 400

    /// Changes a setting of a random policy so that a promise is broken, and proves it before and after.
    func tally() throws -> Tally {
        var random = SeededGenerator(seed: number)
        let name = RandomPromise.names[Int(number) % RandomPromise.names.count]
        while true {
            let trial = try ProofTrial(random.next(), isSmall: isSmall)
            guard let limit = try trial.needed([name])[name] ?? nil else { continue }
            let promise = RandomPromise(name: name, limit: limit)
            var changes = trial.policy.changes(against: name, &random)
            for last in changes.indices.reversed() { changes.swapAt(last, random.roll(last + 1)) }
            for changed in changes {
                guard let broken = try history(breaking: promise, of: changed, seed: random.next()) else { continue }
                var faults: [String] = []
                let folder = try ProofTrial.folder(trial.policy, promising: [promise])
                let kept = try PromiseProof(of: "prices", in: folder.url)
                if !kept.isProved { faults.append("policy \(number): the limit that is needed is not enough: \(kept)") }
                let other = try ProofTrial.folder(changed, promising: [promise])
                let isRefuted = try !PromiseProof(of: "prices", in: other.url).isProved
                if !isRefuted {
                    faults.append("policy \(number): \(promise.name) \(limit) is not refuted: \(broken)")
                }
                var tally = Tally(faults: faults.map { $0 + "\n" + changed.text(promising: [promise]) })
                tally.refuted = isRefuted ? 1 : 0
                return tally
            }
        }
    }

    /// Returns a history in which a policy breaks a promise, as far as it is found soon.
    private func history(
        breaking promise: RandomPromise, of policy: RandomPolicy, seed: UInt64
    ) throws -> String? {
        if try !ProofTrial.isComplete(policy, isSmall: isSmall) { return nil }
        let folder = try ProofTrial.folder(policy, promising: [promise])
        let player = try StoryPlayer(of: "prices", in: folder.url)
        let judge = OutsideJudge(policy: policy, player: player)
        var histories = RandomHistories(of: policy, promising: [promise], seed: seed)
        for _ in 0..<Self.mostHistories {
            let history = histories.next()
            let seen = try player.play(history.situation)
            guard try judge.isBroken(promise, by: seen, in: history) else { continue }
            let simplest = try judge.simplest(history, breaking: promise).situation
            return try "\(simplest.inWords): \(player.play(simplest))"
        }
        return nil
    }
}
