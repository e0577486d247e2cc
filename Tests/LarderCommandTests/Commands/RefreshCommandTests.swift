import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

@Suite struct RefreshCommandTests {
    private static func policy(_ name: String, origin: String, _ section: String) -> String {
        """
        { "resource": "\(name)", "origin": \(origin), "strategy": "cache-first",
          "store": { "use": "file", "limit": "5s" }\(section) }
        """
    }

    /// A folder with a schedule that is due since 1970, unless `plan` says something else.
    private static func folder(
        origin: String = #"{ "use": "constant", "value": 1 }"#, _ section: String = #", "refresh": { "every": "1h" }"#,
        plan: String? = "larder-refresh/1 never 0\n"
    ) throws -> Folder {
        let folder = try Folder()
        try folder.write(policy("motto", origin: origin, section), to: "motto.json")
        guard let plan else { return folder }
        let place = folder.url.appending(path: "cache/motto/refresh@schedule")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try folder.write(plan, to: "cache/motto/refresh@schedule/plan")
        return folder
    }

    private static func refresh(
        _ folder: Folder, _ arguments: String..., registry: Registry = .standard
    ) async -> Output {
        await Output(["refresh", folder.path, "--cache", folder.path + "/cache"] + arguments, registry: registry)
    }

    @Test func dueRefreshRunsAndTheNextCallFindsNothingDue() async throws {
        let folder = try Self.folder()
        let first = await Self.refresh(folder)
        #expect(first.code == 0 && first.err.isEmpty)
        let rows = first.out.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        #expect(rows.first == ["resource", "section", "result", "next", "reason"])
        #expect(rows.count == 2 && rows[1].prefix(3) == ["motto", "refresh", "ran"] && rows[1].last == "UTC")
        let second = await Self.refresh(folder)
        #expect(second.code == 0 && second.out.contains("motto     refresh  not due  2"))
        let copy = await Output([
            "load", "motto", "--cached-only", "--policies", folder.path, "--cache", folder.path + "/cache",
        ])
        #expect(copy.out == "1")
    }

    @Test func resultIsWrittenAsJSON() async throws {
        let folder = try Self.folder()
        let output = await Self.refresh(folder, "--json")
        #expect(output.code == 0 && output.err.isEmpty)
        for member in [
            #""ran": 1"#, #""failed": 0"#, #""left": 0"#, #""resource": "motto""#, #""result": "ran""#,
            #""reason": null"#,
        ] {
            #expect(output.out.contains(member), "\(output.out)")
        }
    }

    @Test func newInstallationWaitsForItsFirstTurn() async throws {
        let folder = try Self.folder(plan: nil)
        let output = await Self.refresh(folder)
        #expect(output.code == 0 && output.out.contains("not due"))
        #expect(try folder.text(of: "cache/motto/refresh@schedule/plan").hasPrefix("larder-refresh/1 never "))
    }

    @Test func failedRefreshFailsTheCommandAndSaysWhy() async throws {
        let broken = Plugin.origin("broken", "Always fails.") { (_: Call) async throws -> Data in
            throw LoadError(.unavailable, "the server is gone")
        }
        let folder = try Self.folder(origin: #""broken""#)
        let output = await Self.refresh(folder, registry: try Registry.standard.replacing(broken))
        #expect(output.code == 1)
        #expect(output.out.contains("motto     refresh  failed  ") && output.out.contains("the server is gone"))
    }

    @Test func workThatDoesNotFitIntoTheBudgetFailsTheCommand() async throws {
        // Composing takes longer than that.
        let output = await Self.refresh(try Self.folder(), "--budget", "1ms")
        #expect(output.code == 1 && output.out.contains("motto     refresh  unfinished  1970-01-01 00:00 UTC"))
    }

    @Test func policiesWithoutDueWorkAreAnError() async throws {
        let folder = try Self.folder("", plan: nil)
        let output = await Self.refresh(folder)
        #expect(output.code == 1 && output.out.isEmpty)
        #expect(output.err == "larder: \(folder.path): no policy has work that becomes due, as 'refresh' has\n")
    }

    @Test(arguments: [
        (["--budget", "soon"], "--budget takes a duration such as 500ms or 30s"),
        (["--budget", "0s"], "--budget takes a duration of more than nothing"),
        (["one", "two"], "refresh takes one PATH"),
        (["one", "--policies", "two"], "PATH and --policies exclude each other"),
        (["--every", "1m"], "unknown option '--every'"),
    ])
    func wrongCallIsExplained(_ arguments: [String], message: String) async {
        let output = await Output(["refresh"] + arguments)
        #expect(output.code == 2 && output.err.hasPrefix("larder: \(message)\n"), "\(output.err)")
    }

    @Test func requestWithoutAParameterOfTheURLIsAnError() async throws {
        let url = #"{ "use": "http", "url": "http://127.0.0.1:1/items/{id}" }"#
        let folder = try Self.folder(origin: url)
        let output = await Self.refresh(folder)
        #expect(output.code == 1)
        #expect(
            output.err.contains(
                "error: section 'refresh' loads a request without the parameter 'id', which origin 'http' needs"))
        let whole = try Self.folder(
            origin: url, #", "refresh": { "every": "1h", "requests": [{ "id": 7 }] }"#, plan: nil)
        #expect(await Self.refresh(whole).code == 0)
    }

    @Test func answersThatAreNotKeptAreAWarning() async throws {
        let folder = try Folder()
        try folder.write(
            """
            { "resource": "motto", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only",
              "refresh": { "every": "1h" } }
            """, to: "motto.json")
        let output = await Output(["check", folder.path])
        #expect(output.out.contains("warning: section 'refresh' loads answers that are not kept"), "\(output.out)")
    }

    @Test func scenariosOfAllResourcesPassBesideASchedule() async throws {
        let folder = try Folder.withPolicies()
        let scenario = projectFolder.appending(path: "Policies/Scenarios/images.json")
        try folder.edit("feed.json", #""resource""#, #""refresh": { "every": "15m" }, "resource""#)
        let output = await Output(["test", scenario.path, "--policies", folder.path])
        #expect(output.code == 0 && output.out.contains(", 0 failed"), "\(output.out)")
    }

    @Test func commandsThatLookIntoStoresRunNoSchedule() async throws {
        let folder = try Self.folder()
        _ = await Output([
            "load", "motto", "--cached-only", "--policies", folder.path, "--cache", folder.path + "/cache",
        ])
        let plan = try folder.text(of: "cache/motto/refresh@schedule/plan")
        let output = await Output([
            "store", "stats", "--policies", folder.path, "--cache", folder.path + "/cache",
        ])
        #expect(output.code == 0)
        #expect(try folder.text(of: "cache/motto/refresh@schedule/plan") == plan)
    }
}
