import Larder
import LarderReports
import LarderSimulation

/// Simulates policies with changes that advice proposes.
struct SimulatedAdvice {
    let advice: [AdviceFile.Item]
    let requests: [TracedRequest]
    let model: OriginModel
    let seed: UInt64
    let registry: Registry
    let environment: [String: String]

    /// Checks each piece of advice about one policy.
    ///
    /// - Parameters:
    ///   - account: the simulation of the policy as it is.
    ///   - folder: the folder of the files that the policy reads.
    ///   - note: called for each piece of advice that does not fit the policy, with the reason.
    ///   - progress: called with the share of the work that is done.
    func checks(
        of account: Replay.Account, folder: String, note: (String) -> Void,
        progress: @escaping @Sendable (Double) -> Void
    ) -> [AdviceCheck] {
        let policy = account.policy
        let own = advice.filter { $0.resource == policy.resource }
        return own.enumerated().compactMap { number, item in
            do {
                let after = try metrics(of: policy, with: item.changes, folder: folder) { share in
                    progress((Double(number) + share) / Double(own.count))
                }
                return AdviceCheck(item, before: account.metrics, after: after)
            } catch {
                note("advice \(number + 1) for '\(policy.resource.printable)' is not checked: \(error)")
                return nil
            }
        }
    }

    /// Simulates a policy with changes.
    ///
    /// - Throws: ``PolicyError`` if the policy does not have a setting to change, or if it would be wrong with the changes.
    private func metrics(
        of policy: Policy, with changes: [Advice.Change], folder: String,
        progress: @escaping @Sendable (Double) -> Void
    ) throws -> ResourceMetrics {
        guard let changed = AdvisedPolicy.json(policy, with: changes) else {
            let place = changes.first.map { "\($0.path)" } ?? ""
            throw PolicyError([Problem("the policy has no place \(place)", file: policy.file)])
        }
        let reader = try PolicyReader(
            registry: registry, texts: [policy.resource: changed.text()], files: folder, environment: environment)
        return try Replay(reader: reader, model: model, seed: seed).run(requests, progress: progress).metrics
    }
}
