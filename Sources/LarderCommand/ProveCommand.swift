import LarderFoundation
import Larder
import LarderSimulation
import LarderStories

extension Command {
    static let prove = Command(
        name: "prove", summary: "Shows whether policies keep their promises, or a situation in which they do not.",
        operands: "[POLICY …]",
        details: """
            POLICY is the name of a resource or the path of its policy file. The default is every policy in the folder of
            --policies that has promises. The graph of the policy runs in simulated time, in every situation that can make
            a difference. A promise that is broken is told with the simplest situation that breaks it, and with the limit
            that would hold. The command fails if a promise is broken, or if a policy cannot be proved; the others are proved
            all the same. A proof that is not complete says so, and does not fail: the promise holds as far as it was
            played. Promises about changes of records are played with a real database, and with a service that speaks as the
            policy says. No file of the app is touched.
            """,
        options: [
            .policies, .json, .format(["text", "json"]),
            Option(
                "out", value: "DIR", help: "Write the situations that break promises as scenarios, for 'larder test'"),
            Option("scenario", help: "Print the situations that break promises as scenarios, and nothing else"),
            .lifetime, .assume,
        ],
        run: { arguments, registry, terminal in
            let isJSON = try arguments.format(["text", "json"]) == "json"
            let lifetimes = try arguments.lifetimes
            let policies = try policies(arguments, registry)
            arguments.explainUnusedLifetimes(policies.map(\.policy), terminal)
            let progress = Progress(terminal, "prove")
            var proofs: [any PolicyProof] = []
            var failures: [ProofFailure] = []
            for (number, policy) in policies.enumerated() {
                let (name, count) = (policy.policy.resource, Double(policies.count))
                do {
                    let simulated = try SimulatedPolicy(
                        policy.policy, registry: registry, files: policy.folder.shortPath,
                        environment: arguments.environment, lifetimes: lifetimes)
                    if arguments.operands.isEmpty, simulated.promises == nil { continue }
                    let show: @Sendable (Double) -> Void = { progress.show((Double(number) + $0) / count, name) }
                    if simulated.promises?.isAboutRecords == true {
                        proofs.append(
                            try RecordProof(
                                policy.policy, registry: registry, files: policy.folder.shortPath,
                                environment: arguments.environment, progress: show))
                    } else {
                        proofs.append(try PromiseProof(simulated, progress: show))
                    }
                } catch {
                    // The other policies are proved all the same.
                    failures.append(ProofFailure(policy.policy, error))
                }
            }
            progress.end()
            if let folder = arguments.value(of: "out") {
                let written = proofs.map { (resource: $0.resource, scenarios: $0.scenarios) }
                try ScenarioFiles.write(written, to: folder, terminal)
            }
            if arguments.has("scenario") {
                for proof in proofs { if let scenarios = proof.scenarios { terminal.print(scenarios.text()) } }
            } else if isJSON {
                terminal.print(JSON.list(proofs.map(\.json) + failures.map(\.json)).text())
            } else {
                for line in proofs.flatMap(\.report) { terminal.print(line.withoutControls) }
            }
            for problem in failures.flatMap(\.problems) { terminal.note(problem.description) }
            return failures.isEmpty && proofs.allSatisfy(\.isProved)
        })

    /// The policies that the operands name, or all of the folder, each with its folder.
    private static func policies(
        _ arguments: Arguments, _ registry: Registry
    ) throws -> [(policy: Policy, folder: URL)] {
        if arguments.operands.isEmpty {
            let folder = arguments.policies
            return try arguments.reader(registry, folder.shortPath).readAll().map { ($0, folder) }
        }
        return try arguments.operands.map { operand in
            let (name, folder) = try arguments.resource(operand)
            let result = arguments.reader(registry, folder.shortPath).check(name + ".json")
            guard let policy = result.policy else { throw PolicyError(result.problems) }
            return (policy, folder)
        }
    }
}
