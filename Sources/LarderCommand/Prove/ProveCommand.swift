#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderSimulation

extension Command {
    static let prove = Command(
        name: "prove", summary: "Shows whether policies keep their promises, or a situation in which they do not.",
        operands: "[POLICY …]",
        details: """
            POLICY is the name of a resource or the path of its policy file. The default is every policy in the folder of
            --policies that has promises. The graph of the policy runs in simulated time, in every situation that can make
            a difference. A promise that is broken is told with the simplest situation that breaks it, and with the limit
            that would hold. The command fails if a promise is broken. A proof that is not complete says so, and does not
            fail: the promise holds as far as it was played. No file of the app is touched.
            """,
        options: [
            .policies, .json, .format(["text", "json"]),
            Option("out", "DIR", "Write the situations that break promises as scenarios, for 'larder test'"),
            Option("scenario", nil, "Print the situations that break promises as scenarios, and nothing else"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let isJSON = try arguments.format(["text", "json"]) == "json"
            let policies = try simulatedPolicies(arguments, registry)
            let progress = Progress(terminal, "prove")
            var proofs: [PromiseProof] = []
            for (number, policy) in policies.enumerated() {
                let (name, count) = (policy.resource, Double(policies.count))
                proofs.append(try PromiseProof(policy) { progress.show((Double(number) + $0) / count, name) })
            }
            progress.end()
            if let folder = arguments.value(of: "out") {
                let written = proofs.map { (resource: $0.resource, scenarios: $0.scenarios) }
                try ScenarioFiles.write(written, to: folder, terminal)
            }
            if arguments.has("scenario") {
                for proof in proofs { if let scenarios = proof.scenarios { terminal.print(scenarios.text()) } }
            } else if isJSON {
                terminal.print(JSON.list(proofs.map(\.json)).text())
            } else {
                for line in proofs.flatMap(\.report) { terminal.print(line.withoutControls) }
            }
            return proofs.allSatisfy(\.isProved)
        })

    /// The policies that the operands name; those with promises, if there are no operands.
    private static func simulatedPolicies(_ arguments: Arguments, _ registry: Registry) throws -> [SimulatedPolicy] {
        func reader(_ folder: URL) -> PolicyReader {
            PolicyReader(registry: registry, folder: folder.shortPath, environment: arguments.environment)
        }
        func simulated(_ policy: Policy, _ folder: URL) throws -> SimulatedPolicy {
            try SimulatedPolicy(
                policy, registry: registry, files: folder.shortPath, environment: arguments.environment)
        }
        if arguments.operands.isEmpty {
            let folder = arguments.policies
            return try reader(folder).readAll().map { try simulated($0, folder) }.filter { $0.promises != nil }
        }
        return try arguments.operands.map { operand in
            let (name, folder) = try arguments.resource(operand)
            let result = reader(folder).check(name + ".json")
            guard let policy = result.policy else { throw PolicyError(result.problems) }
            return try simulated(policy, folder)
        }
    }
}
