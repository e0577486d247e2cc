import FoundationEssentials
import Larder
import Testing

@testable import LarderCommand

@Suite struct DemoTests {
    @Test func oneSeedGivesTheSameTableAndAnotherSeedAnother() async throws {
        let policies = try Folder.withPolicies()
        let first = await Output(["demo", "--policies", policies.path])
        let out = policies.path + "/a/b"
        let second = await Output(["demo", "--policies", policies.path, "--seed", "1", "--out", out])
        let third = await Output(["demo", "--policies", policies.path, "--seed=2"])
        #expect(first.code == 0 && first.err.isEmpty)
        #expect(first.out == second.out)
        let readme = try String(contentsOf: projectFolder.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains(first.out), "README.md shows another table than the demo")
        #expect(first.out != third.out)
        func file(_ name: String) -> String? {
            try? String(contentsOf: URL(filePath: out + "/" + name), encoding: .utf8)
        }
        let json = try String(contentsOf: URL(filePath: out + "/demo.json"), encoding: .utf8)
        #expect(json.contains("\"fallback_rate\"") && json.contains("\"seed\": 1"))
        let report = await Output(["report", out + "/metrics.json"])
        let beginning = report.out.split(separator: "\n", omittingEmptySubsequences: false).prefix(5)
        #expect(report.code == 0 && readme.contains(beginning.joined(separator: "\n")), "\(beginning)")
        #expect(await Output(["report", out + "/metrics.json", "--format", "prometheus"]).out == file("metrics.prom"))
        #expect(await Output(["report", out + "/metrics.json", "--format", "html"]).out == file("report.html"))
    }

    @Test func everyRateMovesAsItsPhaseSays() throws {
        let policies = try Folder.withPolicies()
        let rows = try DemoDay(seed: 1, policies: policies.url, registry: .standard).live { _, _ in }.rows
        func metrics(_ resource: String, _ phase: String) -> ResourceMetrics {
            rows.first { $0.resource == resource && $0.phase == phase }?.metrics ?? ResourceMetrics()
        }
        #expect(rows.count == 15)
        #expect(rows.allSatisfy { $0.metrics.loads > 0 })
        #expect(metrics("feed", "morning rush").fallbackRate < 0.05)
        #expect(metrics("feed", "slow hour").fallbackRate > 0.5)
        #expect(metrics("feed", "outage").fallbackRate == 1)
        #expect(metrics("feed", "offline").fallbackRate == 1)
        #expect(metrics("feed", "recovery").fallbackRate < 0.05)
        #expect(metrics("images", "morning rush").hitRate < metrics("images", "recovery").hitRate)
        #expect(metrics("catalog", "morning rush").staleRate > 0.3)
        #expect(metrics("catalog", "outage").fallbackRate > metrics("catalog", "morning rush").fallbackRate)
        #expect(metrics("catalog", "offline").staleErrorRate > 0.05)
        #expect(metrics("catalog", "recovery").staleErrorRate == 0)
    }

    @Test func aFolderThatCannotBeHadIsToldBeforeTheDayIsLived() async throws {
        let policies = try Folder.withPolicies()
        let output = await Output(["demo", "--policies", policies.path, "--out", policies.path + "/feed.json/out"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("larder: nothing can be left in "))
    }

    @Test func policiesWithoutTheSampleOriginGiveNothingToShow() async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "a", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#,
            to: "a.json")
        let output = await Output(["demo", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(output.err == "larder: no policy has an origin that uses 'sample', so there is nothing to show\n")
    }
}
