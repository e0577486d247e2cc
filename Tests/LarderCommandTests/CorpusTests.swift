import Larder
import Testing

@testable import LarderCommand

/// The exact messages about the broken policies of `Corpus/`.
@Suite struct CorpusTests {
    @Test(arguments: BrokenPolicy.all) func problemsAreReportedWithPlaceInOrder(_ policy: BrokenPolicy)
        async throws
    {
        let folder = try policy.folder()
        let output = await Output(["check", folder.path], environment: policy.environment)
        let lines = output.out.replacing(folder.path + "/", with: "").split(separator: "\n").map(String.init)
        #expect(lines == policy.expected)
        #expect(output.code == (policy.hasErrors ? 1 : 0))
    }

    @Test(arguments: BrokenPolicy.all.filter { !$0.environment.isEmpty })
    func noCommandPrintsValuesOfTheEnvironment(_ policy: BrokenPolicy) async throws {
        let folder = try policy.folder()
        let secrets = policy.environment.values.filter { $0.utf8.count > 4 }
        for arguments in [
            ["check", folder.path], ["check", folder.path, "--format", "json"],
            ["explain", "feed", "--policies", folder.path], ["load", "feed", "--policies", folder.path],
        ] {
            let output = await Output(arguments, environment: policy.environment)
            for secret in secrets {
                #expect(!output.out.contains(secret) && !output.err.contains(secret), "\(arguments[0])")
            }
        }
    }

    @Test(arguments: BrokenPolicy.all.filter(\.hasErrors)) func brokenPolicyIsNotLoaded(_ policy: BrokenPolicy)
        async throws
    {
        let folder = try policy.folder()
        let output = await Output(
            ["load", "feed", "--policies", folder.path, "--cache", folder.path + "/cache"],
            environment: policy.environment)
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        let lines = output.err.replacing(folder.path + "/", with: "").split(separator: "\n").map(String.init)
            // The suggestion after an unknown plugin.
            .filter { !$0.hasPrefix("larder: ") }
        #expect(lines == policy.expected)
    }

    @Test func corpusCoversEveryRule() async throws {
        for rule in LintRule.all {
            let cases = BrokenPolicy.all.filter { $0.name.hasPrefix("lint-" + rule.name) }
            #expect(!cases.isEmpty, "\(rule.name)")
            for policy in cases {
                let folder = try policy.folder()
                let output = await Output(["check", folder.path, "--format", "json"])
                #expect(output.out.contains("\"rule\": \"\(rule.name)\""), "\(policy.name)")
                #expect(output.code == (rule.severity == .error ? 1 : 0))
            }
        }
    }

    @Test func corpusIsFound() {
        #expect(BrokenPolicy.all.count > 180)
    }
}
