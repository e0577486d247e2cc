import Larder
import LarderSimulation
import LarderStories
import LarderSystem

extension Command {
    /// The largest number of calls in the situations with which a proof begins that `larder check` makes. Such a proof
    /// usually takes less than a second.
    private static let mostCheckedCalls = 10_000
    /// The largest number of times at which the parts of such a policy act differently. Every two of them make situations.
    private static let mostCheckedBorders = 40

    /// The promises that a policy breaks, as problems, and whether the proof is complete; nil if showing them takes too many
    /// situations, or fails.
    static func brokenPromises(
        of policy: Policy, _ registry: Registry, _ environment: [String: String], lifetimes: [Duration?],
        mayTakeLong: Bool = false
    ) -> (problems: [Problem], isComplete: Bool)? {
        if policy.sections.isEmpty { return ([], true) }
        guard
            let simulated = try? SimulatedPolicy(
                policy, registry: registry, files: Disk.split(policy.file).folder, environment: environment,
                lifetimes: lifetimes)
        else { return nil }
        if simulated.promises == nil { return ([], true) }
        if !mayTakeLong, isLong(simulated) { return nil }
        guard let proof = try? PromiseProof(simulated) else { return nil }
        let problems = proof.verdicts.filter { !$0.isProved }.map { verdict in
            let section = policy.sections.first { $0.node[verdict.promise] != nil }
            let name = section.map { ".\($0.plugin.name)" } ?? ""
            let told = verdict.lines.map { $0.drop { $0 == " " || $0 == "✗" } }.joined(separator: "; ")
            return Problem(
                "this promise is broken: \(told)", file: policy.file,
                at: section?.node[verdict.promise]?.position, path: "$\(name).\(verdict.promise)")
        }
        return (problems, proof.gaps.isEmpty)
    }
}

extension Command {
    /// Whether a proof would take much longer than a second.
    private static func isLong(_ policy: SimulatedPolicy) -> Bool {
        if policy.waitBorders.count + policy.ageBorders.count > mostCheckedBorders { return true }
        // Making the situations can take longer than a second too.
        if PromiseProof.roughSize(of: policy) > mostCheckedCalls * 10 { return true }
        return PromiseProof.size(of: policy) * policy.mostTries > mostCheckedCalls
    }
}
