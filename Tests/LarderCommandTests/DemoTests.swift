import FoundationEssentials
import Larder
import Testing

@testable import LarderCommand

@Suite struct DemoTests {
    @Test func tableDependsOnSeedOnly() async throws {
        let policies = try Folder.withPolicies()
        let first = await Output(["demo", "--policies", policies.path])
        let out = policies.path + "/a/b"
        let second = await Output(["demo", "--policies", policies.path, "--seed", "1", "--out", out])
        let third = await Output(["demo", policies.path, "--seed=2"])
        #expect(first.code == 0 && first.err.isEmpty)
        #expect(first.out == second.out)
        let readme = try Self.text("README.md")
        let article = try Self.text("Sources/Larder/Larder.docc/GettingStarted.md")
        #expect(article.contains(first.out), "Getting started shows another table than the demo")
        let excerpt = try #require(readme.components(separatedBy: "$ swift run larder demo\n").dropFirst().first)
        for line in excerpt.components(separatedBy: "\n```")[0].split(separator: "\n") where line != "…" {
            #expect(first.out.contains(line + "\n"), "README.md shows a line that the demo does not print")
        }
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

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: projectFolder.appending(path: path), encoding: .utf8)
    }

    @Test func readmeHasAtMostThousandWords() throws {
        #expect(try Self.text("README.md").split(whereSeparator: \.isWhitespace).count <= 1_000)
    }

    @Test func readmeShowsActualErrorMessage() async throws {
        let readme = try Self.text("README.md")
        let policy = try #require(readme.components(separatedBy: "```json\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let folder = try Folder()
        try folder.write(policy, to: "prices.json")
        #expect(await Output(["check", "--strict", folder.path]).code == 0)
        try folder.edit(
            "prices.json", #""stale-while-revalidate""#, #"{ "use": "stale-while-revalidate", "patiense": "1s" }"#)
        let output = await Output(["check", folder.path])
        #expect(readme.contains(output.out.replacing(folder.path, with: "Policies")))
    }

    @Test func linesForYourServiceMakeAWholePolicy() async throws {
        let blocks = try Self.text("README.md").components(separatedBy: "```json\n").dropFirst()
        let lines = try #require(blocks.dropFirst().first).components(separatedBy: "```")[0]
        let folder = try Folder()
        try folder.write("{ \"resource\": \"prices\",\n\(lines)\"store\": \"memory\" }", to: "prices.json")
        let output = await Output(["check", "--strict", folder.path])
        #expect(output.code == 0, "\(output.out)\(output.err)")
    }

    @Test func ratesChangeAsThePhasesOfTheDayRequire() throws {
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

    @Test func figuresOfResourceStayTheSameWhenOtherPolicyIsAdded() throws {
        func feed(_ names: [String]) throws -> [String] {
            let folder = try Folder()
            for name in names { try folder.write(try Self.text("Policies/\(name).json"), to: name + ".json") }
            let rows = try DemoDay(seed: 1, policies: folder.url, registry: .standard).live { _, _ in }.rows
            return DemoTable(rows: rows.filter { $0.resource == "feed" }).lines
        }
        let alone = try feed(["feed"])
        #expect(alone.count > 5)
        #expect(try feed(["catalog", "feed"]) == alone)
    }

    @Test func unwritableFolderIsReportedBeforeDayBegins() async throws {
        let policies = try Folder.withPolicies()
        let output = await Output(["demo", "--policies", policies.path, "--out", policies.path + "/feed.json/out"])
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err.hasPrefix("larder: \(policies.path)/feed.json/out cannot be written: "))
    }

    @Test func policiesWithoutSampleOriginAreError() async throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "a", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#,
            to: "a.json")
        let output = await Output(["demo", "--policies", folder.path])
        #expect(output.code == 1)
        #expect(
            output.err
                == "larder: no policy has an origin that uses 'sample', so there is nothing to show; use 'larder simulate'\n"
        )
    }
}
