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

    /// Returns the promises that a policy keeps now and would break with changes: `neverOlderThan 6h`.
    ///
    /// - Parameter progress: is told which share of the work is done. It is called from several threads.
    /// - Throws: ``PolicyError`` if the policy would be wrong with the changes, or cannot be proved; ``Inapplicable`` if it
    ///   does not have the settings to change.
    func brokenPromises(
        of policy: AdvisedPolicy, by changes: [Advice.Change], progress: @escaping @Sendable (Double) -> Void
    ) throws -> [String] {
        guard let json = AdvisedPolicy.json(policy.policy, with: changes) else { throw Inapplicable() }
        guard let after = try proof(of: json, for: policy.policy.resource, progress)
        else { return [] }
        let broken = after.verdicts.filter { !$0.isProved }.map(Self.title)
        if broken.isEmpty { return [] }
        // The change is not to blame for promises that are broken already.
        let before = try proof(of: AdvisedPolicy.json(policy.policy), for: policy.policy.resource, progress)
        let kept = before?.verdicts.filter(\.isProved).map(Self.title) ?? []
        return broken.filter(kept.contains)
    }

    private func proof(
        of json: JSON, for resource: String, _ progress: @escaping @Sendable (Double) -> Void
    ) throws -> PromiseProof? {
        let reader = try PolicyReader(
            registry: registry, texts: [resource: json.text()], files: folder, environment: environment)
        let result = reader.check(resource + ".json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        let simulated = try SimulatedPolicy(policy, registry: registry, files: folder, environment: environment)
        return simulated.promises == nil ? nil : try PromiseProof(simulated, progress: progress)
    }

    /// The policy does not have the settings that advice changes.
    struct Inapplicable: Error, CustomStringConvertible {
        let description = "it has other settings"
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
        self.init(
            advice,
            objection: policy.flatMap { proof.objection(to: advice, of: $0, beside: accepted, progress: progress) })
    }
}

extension AdviceProof {
    /// The reason why advice is not proposed; nil if it is.
    fileprivate func objection(
        to advice: Advice, of policy: AdvisedPolicy, beside accepted: [Advice],
        progress: @escaping @Sendable (Double) -> Void
    ) -> String? {
        do {
            let alone = try brokenPromises(of: policy, by: advice.changes, progress: progress)
            if !alone.isEmpty || accepted.isEmpty {
                return alone.isEmpty ? nil : "it would break " + alone.joined(separator: ", ")
            }
            let all = accepted.flatMap(\.changes) + advice.changes
            let together = try brokenPromises(of: policy, by: all, progress: progress)
            return together.isEmpty
                ? nil : "with the advice above, it would break " + together.joined(separator: ", ")
        } catch {
            return "the promises of the policy cannot be proved with it: \(error)"
        }
    }
}
