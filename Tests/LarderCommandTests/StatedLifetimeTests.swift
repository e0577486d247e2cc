import LarderFoundation
import Testing

/// Proofs and comparisons of policies that follow what servers say about their answers.
@Suite struct StatedLifetimeTests {
    private static func policy(_ validator: String, promises: String? = nil) -> String {
        """
        { "resource": "prices", "origin": { "use": "http", "url": "https://api.example.com/prices" },
          "around": [{ "use": "timeout", "after": "5s" }], "strategy": "cache-first",
          "validators": [{ "use": "\(validator)", "fresh": "5m", "onError": "1h" }], "store": { "use": "sqlite", "limit": "2s" }
          \(promises.map { ", \"promises\": \($0)" } ?? "") }
        """
    }

    private static func prove(_ promises: String, _ options: String...) async throws -> Output {
        let folder = try Folder()
        try folder.write(policy("http", promises: promises), to: "prices.json")
        return await Output(["prove", "--policies", folder.path] + options)
    }

    // MARK: Proofs

    @Test func longLifetimeOfAServerBreaksThePromiseOfAnAge() async throws {
        let output = try await Self.prove(#"{ "neverOlderThan": "65m" }"#)
        #expect(output.code == 1)
        #expect(output.out.contains("the origin states a lifetime of 1d: the copy is shown"), "\(output.out)")
        #expect(output.out.contains("it would hold with \"25h\" (1d 1h)"), "\(output.out)")
    }

    @Test func promiseHoldsForTheLifetimeThatTheServerIsKnownToState() async throws {
        for lifetime in ["none", "5m", "1m"] {
            let output = try await Self.prove(#"{ "neverOlderThan": "65m" }"#, "--lifetime", lifetime)
            #expect(output.code == 0, "\(lifetime): \(output.out)")
        }
        let longer = try await Self.prove(#"{ "neverOlderThan": "65m" }"#, "--lifetime", "5m", "--lifetime", "10m")
        #expect(longer.out.contains("it would hold with \"70m\" (1h 10m)"), "\(longer.out)")
    }

    @Test func shortLifetimeOfAServerBreaksThePromiseOfATimeWithoutNetwork() async throws {
        let output = try await Self.prove(#"{ "offlineFor": "64m" }"#)
        #expect(output.out.contains("it would hold with \"3655s\" (1h 55s)"), "\(output.out)")
        #expect(try await Self.prove(#"{ "offlineFor": "64m" }"#, "--lifetime", "5m").code == 0)
    }

    @Test func proofSaysWhichLifetimesAreAssumed() async throws {
        let usual = try await Self.prove(#"{ "waits": "6s" }"#)
        #expect(
            usual.out.contains(
                "not complete: validator 'http' follows the origin; it is played with answers that state no lifetime, 1m "
                    + "or 1d, and with no other rules"), "\(usual.out)")
        let known = try await Self.prove(#"{ "waits": "6s" }"#, "--lifetime", "5m")
        #expect(known.out.contains("answers that state a lifetime of 5m, and"), "\(known.out)")
    }

    @Test func situationWithALifetimeBreaksThePromiseAsAScenarioToo() async throws {
        let folder = try Folder()
        try folder.write(Self.policy("http", promises: #"{ "neverOlderThan": "65m" }"#), to: "prices.json")
        _ = await Output(["prove", "--policies", folder.path, "--out", folder.path + "/found"])
        let output = await Output(["test", folder.path + "/found", "--policies", folder.path])
        #expect(output.code == 1 && output.out.contains("expected: noOlderThan 65m"), "\(output.out)\(output.err)")
    }

    @Test(arguments: ["1500ms", "forever", "3651d", "often", ""])
    func lifetimeThatNoServerCanStateIsAnError(_ lifetime: String) async throws {
        let output = try await Self.prove(#"{ "waits": "6s" }"#, "--lifetime=" + lifetime)
        #expect(output.code == 2 && output.err.contains("--lifetime takes whole seconds"), "\(output)")
    }

    @Test func checkAssumesTheLifetimesThatItIsTold() async throws {
        let folder = try Folder()
        try folder.write(Self.policy("http", promises: #"{ "neverOlderThan": "65m" }"#), to: "prices.json")
        #expect(await Output(["check", "--prove", folder.path]).out.contains("this promise is broken"))
        let known = await Output(["check", "--prove", folder.path, "--lifetime", "5m"])
        #expect(known.code == 0, "\(known.out)")
    }

    @Test func lifetimeWithoutAValidatorThatFollowsItIsToldToHaveNoEffect() async throws {
        let output = try await DiffCommandTests.diff(Self.policy("age"), Self.policy("age"), "--lifetime", "5m")
        #expect(output.err.contains("--lifetime has no effect"), "\(output.err)")
        #expect(try await !Self.prove(#"{ "waits": "6s" }"#, "--lifetime", "5m").err.contains("no effect"))
    }

    // MARK: Comparisons

    @Test func diffTellsTheLifetimesForWhichTwoValidatorsDiffer() async throws {
        let output = try await DiffCommandTests.diff(Self.policy("age"), Self.policy("http"))
        #expect(
            output.out.contains(
                "the origin answers within 5s, copy 1m to 5m old, if the origin states a lifetime of 1m: copy at once → "
                    + "the origin's answer"), "\(output.out)")
        #expect(output.out.contains("if the origin states a lifetime of 1d: error 503 at once → copy at once"))
    }

    @Test func differenceOfAWindowIsToldAtTheAgesOfEachLifetime() async throws {
        let longer = Self.policy("http").replacing(#""onError": "1h""#, with: #""onError": "2h""#)
        let output = try await DiffCommandTests.diff(Self.policy("http"), longer, "--all")
        for situation in [
            "copy 1h 5m to 2h 5m old: error", "copy 1d 1h to 1d 2h old, if the origin states a lifetime of 1d: error",
        ] { #expect(output.out.contains("  offline, \(situation) (failed) at once"), "\(output.out)") }
        #expect(output.out.contains("  lines that name no lifetime are for an origin that states no lifetime\n"))
    }

    @Test func diffFindsNoDifferenceIfTheServerStatesWhatThePolicySays() async throws {
        for (old, new) in [("age", "http"), ("http", "age")] {
            let same = try await DiffCommandTests.diff(Self.policy(old), Self.policy(new), "--lifetime", "5m")
            #expect(same.out.contains("  0 of "), "\(same.out)")
            let other = try await DiffCommandTests.diff(Self.policy(old), Self.policy(new), "--lifetime", "1m")
            #expect(!other.out.contains("  0 of "), "\(other.out)")
        }
    }

    @Test func policyOfTheReadmeDiffersFromOneWithoutTheServersRules() async throws {
        let folder = try Folder()
        let url = "https://api.example.com/prices/{id}"
        let made = await Output(["new", "prices", "--policies", folder.path, "--url", url])
        #expect(made.code == 0, "\(made.err)")
        let text = try String(contentsOf: folder.url.appending(path: "prices.json"), encoding: .utf8)
        let own = #""http",\s*"fresh""#
        let silent = text.replacing(try Regex(own), with: #""age", "fresh""#)
        let output = try await DiffCommandTests.diff(silent, text)
        #expect(output.out.contains("if the origin states a lifetime of 1m"), "\(output.out)")
    }

    // MARK: Scenarios and simulations

    @Test func coverageMissesALifetimeUntilAScenarioStatesIt() async throws {
        func missing(_ scenario: String) async throws -> Bool {
            let folder = try Folder()
            try folder.write(Self.policy("http"), to: "prices.json")
            try folder.write(#"{ "resource": "prices", "scenarios": [\#(scenario)] }"#, to: "_own.json")
            let output = await Output(["test", folder.path + "/_own.json", "--policies", folder.path, "--coverage"])
            #expect(output.out.contains("1 passed"), "\(output.out)\(output.err)")
            return output.out.contains("if the origin states a lifetime of 1m")
        }
        func scenario(_ more: String) -> String {
            """
            { "name": "a copy", \(more) "cached": { "value": 1, "age": "2m" }, "origin": { "value": 2 },
              "asks": { "expect": { "answered": "yes" } } }
            """
        }
        #expect(try await missing(scenario("")))
        #expect(try await !missing(scenario(#""lifetime": "1m","#)))
    }

    @Test func scenarioRefusesALifetimeThatNoServerCanState() async throws {
        let folder = try Folder()
        try folder.write(Self.policy("http"), to: "prices.json")
        let scenario = #"{ "name": "odd", "lifetime": "1500ms", "asks": {} }"#
        try folder.write(#"{ "resource": "prices", "scenarios": [\#(scenario)] }"#, to: "_own.json")
        let output = await Output(["test", folder.path + "/_own.json", "--policies", folder.path])
        #expect(output.code == 1 && output.out.contains("'lifetime' takes whole seconds"), "\(output)")
    }

    @Test func simulationCallsTheOriginAsOftenAsItsLifetimeAsksFor() async throws {
        func calls(_ options: String...) async throws -> (count: Int, notes: String) {
            let folder = try Folder()
            try folder.write(Self.policy("http"), to: "prices.json")
            let traffic = ["--traffic", "rate=1,for=60m,keys=1", "--origin", "changes=1s"]
            let output = await Output(["simulate", "--policies", folder.path] + traffic + options)
            let line = output.out.split(separator: "\n").first { $0.hasPrefix("origin_calls") }
            return (try #require(line?.split(separator: " ").last.flatMap { Int($0) }), output.err)
        }
        let (usual, notes) = try await calls()
        #expect((11...13).contains(usual), "\(usual)")
        #expect(notes.contains("validator 'http' follows the origin, which is assumed to state no lifetime"))
        let long = try await calls("--lifetime", "30m").count
        #expect((1...3).contains(long), "\(long)")
    }
}
