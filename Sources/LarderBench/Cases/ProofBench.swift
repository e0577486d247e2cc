import LarderFoundation
import Larder
import LarderSimulation
import LarderStories

/// The time that `larder prove` takes for the policies in the folder `Policies` of the working directory.
enum ProofBench {
    static func figures(_ harness: Harness) throws -> [Figure] {
        let (world, folder) = (SystemWorld(), URL(filePath: "Policies"))
        let policies = try PolicyReader(registry: .standard, folder: folder.path, environment: [:]).readAll()
        return try policies.filter { harness.includes("prove: \($0.resource)") }.map { policy in
            var (times, situations): ([Double], Int) = ([], 0)
            for _ in 0..<max(harness.rounds / 5, 1) {
                let start = world.uptime
                situations = try PromiseProof(of: policy.resource, in: folder).situations
                times.append(Double((world.uptime - start).nanoseconds))
            }
            times.sort()
            return Figure(
                group: "prove", name: "\(policy.resource), \(situations) situations", median: times[times.count / 2],
                least: times.first, goal: 2_000_000_000)
        }
    }
}
