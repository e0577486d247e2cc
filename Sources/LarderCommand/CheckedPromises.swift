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
        guard let promises = simulated.promises else { return ([], true) }
        if promises.isAboutRecords {
            // Some seconds with a database.
            if !mayTakeLong { return nil }
            return brokenPromises(of: policy, registry, environment)
        }
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
    /// The promises about changes of records that a policy breaks; nil if showing them fails.
    private static func brokenPromises(
        of policy: Policy, _ registry: Registry, _ environment: [String: String]
    ) -> (problems: [Problem], isComplete: Bool)? {
        let folder = Disk.split(policy.file).folder
        guard let proof = try? RecordProof(policy, registry: registry, files: folder, environment: environment) else {
            return nil
        }
        let section = policy.sections.first { section in proof.verdicts.contains { section.node[$0.promise] != nil } }
        let problems = proof.broken.map { promise, told in
            Problem(
                "this promise is broken: \(told)", file: policy.file, at: section?.node[promise]?.position,
                path: "$\(section.map { ".\($0.plugin.name)" } ?? "").\(promise)")
        }
        return (problems, proof.gaps.isEmpty)
    }

    /// Whether a proof would take much longer than a second.
    private static func isLong(_ policy: SimulatedPolicy) -> Bool {
        if policy.waitBorders.count + policy.ageBorders.count > mostCheckedBorders { return true }
        // Making the situations can take longer than a second too.
        if PromiseProof.roughSize(of: policy) > mostCheckedCalls * 10 { return true }
        return PromiseProof.size(of: policy) * policy.mostTries > mostCheckedCalls
    }
}
