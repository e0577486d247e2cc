import Larder
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
    ///   - progress: called with the share of the work that is done.
    /// - Throws: ``PolicyError`` if the policy does not have a setting that the advice changes, or if it would be wrong
    ///   with the change.
    func checks(
        of account: Replay.Account, folder: String, progress: @escaping @Sendable (Double) -> Void
    ) throws -> [AdviceCheck] {
        let policy = account.policy
        let own = advice.filter { $0.resource == policy.resource }
        return try own.enumerated().map { number, item in
            guard let changed = AdvisedPolicy.json(policy, with: item.changes) else {
                throw PolicyError([
                    Problem(
                        "the policy has no place \(item.changes.first.map { "\($0.path)" } ?? "")", file: policy.file)
                ])
            }
            let reader = try PolicyReader(
                registry: registry, texts: [policy.resource: changed.text()], files: folder, environment: environment)
            let after = try Replay(reader: reader, model: model, seed: seed).run(requests) { share in
                progress((Double(number) + share) / Double(own.count))
            }
            return AdviceCheck(item, before: account.metrics, after: after.metrics)
        }
    }
}
