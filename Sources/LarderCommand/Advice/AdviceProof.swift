import Larder
import LarderReports
import LarderSimulation
import LarderStories

/// Proves that policies keep their promises when advice is followed.
struct AdviceProof {
    let registry: Registry
    let environment: [String: String]
    /// The folder of the files that the policies read.
    let folder: String
    let lifetimes: [Duration?]

    /// The promises that changes break, and the reasons why a proof of the others is not complete.
    struct Result {
        /// The promises that the policy keeps now and would break: `neverOlderThan 6h`.
        var broken: [String] = []
        var gaps: [String] = []
    }

    /// Proves a policy with changes.
    ///
    /// - Parameter progress: is told which share of the work is done. It is called from several threads.
    /// - Throws: ``PolicyError`` if the policy would be wrong with the changes, or cannot be proved; ``CommandFailure`` if it
    ///   does not have the settings to change.
    func result(
        of policy: AdvisedPolicy, with changes: [Advice.Change], progress: @escaping @Sendable (Double) -> Void
    ) throws -> Result {
        guard let json = AdvisedPolicy.json(policy.policy, with: changes) else {
            throw CommandFailure("it has other settings")
        }
        guard let after = try proof(of: json, for: policy.policy.resource, progress) else { return Result() }
        let broken = after.verdicts.filter { !$0.isProved }.map(Self.title)
        if broken.isEmpty { return Result(gaps: after.gaps) }
        // The change is not to blame for promises that are broken already.
        let before = try proof(of: AdvisedPolicy.json(policy.policy), for: policy.policy.resource, progress)
        let kept = before?.verdicts.filter(\.isProved).map(Self.title) ?? []
        return Result(broken: broken.filter(kept.contains), gaps: after.gaps)
    }

    private func proof(
        of json: JSON, for resource: String, _ progress: @escaping @Sendable (Double) -> Void
    ) throws -> PromiseProof? {
        let reader = try PolicyReader(
            registry: registry, texts: [resource: json.text()], files: folder, environment: environment)
        let result = reader.check(resource + ".json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        let simulated = try SimulatedPolicy(
            policy, registry: registry, files: folder, environment: environment, lifetimes: lifetimes)
        return simulated.promises == nil ? nil : try PromiseProof(simulated, progress: progress)
    }

    private static func title(_ verdict: PromiseVerdict) -> String { "\(verdict.promise) \(verdict.limit)" }
}

extension JudgedAdvice {
    /// - Parameters:
    ///   - policy: the policy that the advice is about. Nil if it is not known: then nothing can be proved.
    ///   - accepted: the advice for the same policy that is proposed already. Both must keep the promises together, too.
    init(
        _ advice: Advice, of policy: AdvisedPolicy?, beside accepted: [Advice], by proof: AdviceProof,
        progress: @escaping @Sendable (Double) -> Void
    ) {
        guard let policy else {
            self.init(advice)
            return
        }
        do {
            var (result, company) = (try proof.result(of: policy, with: advice.changes, progress: progress), "")
            if result.broken.isEmpty, !accepted.isEmpty {
                let all = accepted.flatMap(\.changes) + advice.changes
                (result, company) = (
                    try proof.result(of: policy, with: all, progress: progress), "with the advice above, "
                )
            }
            let broken = result.broken.joined(separator: ", ")
            self.init(
                advice, objection: broken.isEmpty ? nil : company + "it would break " + broken, gaps: result.gaps)
        } catch {
            self.init(advice, objection: "the promises of the policy cannot be proved with it: \(error)")
        }
    }
}
