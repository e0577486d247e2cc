import LarderFoundation
import Larder
import LarderSimulation
import LarderStories

/// The time that `larder prove` takes for the policies in the folder `Policies` of the working directory.
enum ProofBench {
    static func figures(_ harness: Harness) async throws -> [Figure] {
        let folder = URL(filePath: "Policies")
        let policies = try PolicyReader(registry: .standard, folder: folder.path, environment: [:]).readAll()
        var figures: [Figure] = []
        for policy in policies where harness.includes("prove: \(policy.resource)") {
            var situations = 0
            var figure = try await Figure(
                group: "prove", name: policy.resource, rounds: harness.rounds / 5, goal: 2_000_000_000
            ) { _ in situations = try PromiseProof(of: policy.resource, in: folder).situations }
            figure.name += ", \(situations) situations"
            figures.append(figure)
        }
        return figures
    }
}
