import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// Tests of `larder simulate`, which compares policies in simulated time.
@Suite struct SimulateTests {
    private static func simulate(_ folder: Folder, _ arguments: String...) async -> Output {
        await Output(["simulate", "--policies", folder.path] + arguments)
    }

    /// Returns the figures of the only policy, by name.
    private static func figures(_ output: Output) throws -> [String: Double] {
        let root = try JSONParser.parse(SourceText(name: "", bytes: Array(output.out.utf8)))
        guard case .list(let policies)? = root["policies"]?.content, let policy = policies.first else { return [:] }
        return (policy.members ?? []).reduce(into: [:]) { figures, member in
            if case .number(let value, _) = member.value.content { figures[member.name] = value }
        }
    }

    private static func news(_ strategy: String, more: String = "") throws -> Folder {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "news", "origin": { "use": "sample", "payload": "feed" }, "around": [{ "use": "timeout", "after": "9s" }],
              "strategy": "\(strategy)", "validators": [{ "use": "age", "fresh": "5m", "onError": "1h" }],
              "store": "memory"\(more) }
            """, to: "news.json")
        return folder
    }

    private static let steady = "latency=100ms,slowest=100ms,size=1000B,changes=1m"

    @Test func networkOnlyCallsOriginForEveryLoad() async throws {
        let output = await Self.simulate(
            try Self.news("network-only"), "--traffic", "rate=5,for=10m,keys=20", "--origin", Self.steady, "--format",
            "json")
        #expect(output.code == 0)
        let figures = try Self.figures(output)
        let loads = try #require(figures["loads"])
        #expect(abs(loads - 3_000) < 300)
        #expect(figures["hit_rate"] == 0 && figures["fallback_rate"] == 0)
        // Simultaneous loads of the same key share a call.
        #expect(try #require(figures["origin_calls"]) <= loads)
        #expect(figures["origin_bytes"] == figures["origin_calls"].map { $0 * 1_000 })
        #expect(abs(try #require(figures["load_p50"]) - 100) <= 1)
    }

    @Test func keyIsFetchedOncePerFreshTime() async throws {
        let output = await Self.simulate(
            try Self.news("cache-first"), "--traffic", "rate=10,for=1h,keys=1", "--origin", Self.steady, "--format",
            "json")
        let figures = try Self.figures(output)
        // A call is made after five minutes and the gap to the next request: at most twelve times an hour, and close to
        // it.
        #expect((11...12).contains(try #require(figures["origin_calls"])))
        #expect(try #require(figures["hit_rate"]) > 0.999 - 0.002)
        #expect(try #require(figures["age_p99"]) < 301_000)
    }

    @Test func outageIsAnsweredFromCopies() async throws {
        let folder = try Self.news("network-first")
        let output = await Self.simulate(
            folder, "--traffic", "rate=5,for=20m,keys=1", "--origin", Self.steady + ",down=10m-20m", "--format", "json")
        let figures = try Self.figures(output)
        #expect(abs(try #require(figures["fallback_rate"]) - 0.5) < 0.03)
        #expect(figures["failed_rate"] == 0)
        let alone = await Self.simulate(
            try Self.news("network-only"), "--traffic", "rate=5,for=20m,keys=1", "--origin",
            Self.steady + ",down=10m-20m", "--format", "json")
        #expect(abs(try #require(Self.figures(alone)["failed_rate"]) - 0.5) < 0.03)
    }

    @Test func otherStrategyIsSimulatedBesideOwn() async throws {
        let folder = try Self.news("network-first")
        let output = await Self.simulate(
            folder, "--policy", folder.path + "/news.json", "--try", "stale-while-revalidate", "--try", "cache-only",
            "--traffic", "rate=2,for=10m,keys=5", "--origin", "fails=2%")
        #expect(output.code == 0)
        let strategies = output.out.split(separator: "\n").first { $0.hasPrefix("strategy") }
        #expect(
            strategies?.split(separator: " ") == ["strategy", "network-first", "stale-while-revalidate", "cache-only"])
        let calls = output.out.split(separator: "\n").first { $0.hasPrefix("origin_calls") }?.split(separator: " ")
        #expect(calls?.last == "0" && calls?[1] != calls?[2])
        // The policy file is unchanged.
        #expect(try folder.text(of: "news.json").contains("\"network-first\""))
    }

    @Test func outputDependsOnOptionsAndSeedOnly() async throws {
        let folder = try Self.news("network-first")
        let arguments = ["--traffic", "rate=3,for=5m", "--origin", "fails=10%"]
        func output(_ more: String...) async -> String {
            await Output(["simulate", "--policies", folder.path] + arguments + more).out
        }
        let first = await output()
        #expect(!first.isEmpty)
        #expect(await output() == first)
        #expect(await output("--seed", "2") != first)
    }

    @Test func articleShowsActualOutput() async throws {
        let article = try String(
            contentsOf: projectFolder.appending(path: "Sources/Larder/Larder.docc/WhatIf.md"), encoding: .utf8)
        let line = try #require(article.split(separator: "\n").first { $0.hasPrefix("$ swift run larder simulate ") })
        let policies = try Folder.withPolicies()
        let arguments = line.split(separator: " ").dropFirst(5).map {
            String($0).replacing("Policies/", with: policies.path + "/")
        }
        let output = await Output(["simulate"] + arguments)
        #expect(output.code == 0 && article.contains(output.out), "\(output.out)")
    }

    @Test func recordingIsReplayedForItsResource() async throws {
        let folder = try Self.news("cache-first")
        let trace = (0..<10).map { #"{"at":\#(1_700_000_000 + $0 * 60),"resource":"news","key":"k","outcome":"live"}"# }
        let others = [#"{"at":1700000001.5,"resource":"images","key":"k"}"#, ""]
        try folder.write((trace.reversed() + others).joined(separator: "\n"), to: "trace.jsonl")
        let output = await Self.simulate(
            folder, "--trace", folder.path + "/trace.jsonl", "--origin", Self.steady, "--format", "json")
        let figures = try Self.figures(output)
        #expect(figures["loads"] == 10 && figures["origin_calls"] == 2)
    }

    @Test func tableIsPrintedEvenIfLoadsNeverEnd() async throws {
        let folder = try Self.news("cache-first")
        try folder.edit("news.json", #""around": [{ "use": "timeout", "after": "9s" }],"#, "")
        let output = await Self.simulate(
            folder, "--traffic", "rate=2,for=5m", "--origin", "silent=2m-3m", "--format", "json")
        #expect(output.code == 0)
        #expect(try #require(Self.figures(output)["loads"]) > 100)
    }

    @Test func cachedOnlyLoadIsReplayedAsCachedOnly() async throws {
        let folder = try Self.news("cache-first")
        let line = #"{"at":1,"resource":"news","key":"k","outcome":"cachedOnly","mode":"cachedOnly"}"#
        try folder.write(
            line + "\n" + line.replacing(#","mode":"cachedOnly""#, with: "").replacing("1,", with: "2,"), to: "t")
        let output = await Self.simulate(folder, "--trace", folder.path + "/t", "--format", "json")
        #expect(try Self.figures(output)["loads"] == 1)
    }

    @Test func traceWithoutTheResourceIsFailure() async throws {
        let folder = try Self.news("cache-first")
        try folder.write(#"{"at":1,"resource":"images","key":"k"}"#, to: "trace.jsonl")
        let output = await Self.simulate(folder, "--trace", folder.path + "/trace.jsonl")
        #expect(output.code == 1)
        #expect(output.err.contains("news: no request for this policy has ended"))
    }

    @Test(arguments: [
        (["--traffic", "rate=fast"], "--traffic:1:9: error: a string is not allowed here"),
        (["--traffic", "rat=2"], "(did you mean 'rate'?)"),
        (["--traffic", "rate=1000000,for=1d"], "more than 20 million"),
        (["--traffic", "rate=2", "--origin", "down=9"], "--origin"),
        (["--traffic", "rate=2", "--origin", #"{"fails": 2}"#], "--origin:1:11: error"),
        (["--traffic", "nowhere.json"], "cannot open the file"),
        (["--trace", "nowhere.jsonl"], "the trace cannot be read"),
        (["--traffic", "rate=2", "--try", "cash-first"], "unknown strategy 'cash-first'"),
        (["--traffic", "rate=2", "--policy", "nowhere.json"], "nowhere.json"),
    ])
    func errorIsReportedAndNothingIsPrinted(_ arguments: [String], _ message: String) async throws {
        let folder = try Self.news("cache-first")
        let output = await Output(["simulate", "--policies", folder.path] + arguments)
        #expect(output.code == 1)
        #expect(output.out.isEmpty)
        #expect(output.err.contains(message), "\(output.err)")
    }

    @Test(arguments: [
        [], ["--traffic", "rate=1", "--trace", "x"], ["feed", "--traffic", "rate=1"],
        ["--traffic", "rate=1", "--seed", "-1"],
    ])
    func usageErrorIsReported(_ arguments: [String]) async throws {
        #expect(await Output(["simulate"] + arguments).code == 2)
    }

    @Test(arguments: [
        ("{", 2), ("[]", 1), ("nonsense", 1), (#"{"at":"now","resource":"news","key":"k"}"#, 1),
        (#"{"at":1e300,"resource":"n","key":"k"}"#, 1),
    ])
    func invalidTraceLineIsSkippedAndNamed(_ line: String, column: Int) async throws {
        let folder = try Self.news("cache-first")
        try folder.write("{\"at\":1,\"resource\":\"news\",\"key\":\"k\"}\n\(line)\n", to: "trace.jsonl")
        let output = await Self.simulate(folder, "--trace", folder.path + "/trace.jsonl")
        #expect(output.code == 0 && output.err.contains("1 line left out, the first of them line 2"))
        try folder.write("\n" + line + "\n", to: "trace.jsonl")
        let alone = await Self.simulate(folder, "--trace", folder.path + "/trace.jsonl")
        let start = "\(folder.path)/trace.jsonl:2:\(column): error: this line is not a recorded request; expected {"
        #expect(alone.code == 1 && alone.err.contains(start), "\(alone.err)")
    }
}
