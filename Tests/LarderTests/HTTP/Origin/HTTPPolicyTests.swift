import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderPlugins

@Suite struct HTTPPolicyTests {
    private static func problems(_ settings: String, url: String = "https://api.example/{id}") throws -> [String] {
        let text = #"""
            { "resource": "feed", "origin": { "use": "http", "url": "\#(url)"\#(settings.isEmpty ? "" : ", " + settings) },
              "strategy": "network-only" }
            """#
        let folder = try Folder()
        try folder.write(text, to: "feed.json")
        try folder.write("", to: "ca.pem")
        var registry = Registry.standard
        try registry.register(.signer("session", account: { nil }) { _, _ in })
        return PolicyReader(registry: registry, folder: folder.path, environment: ["TOKEN": "canary"])
            .check("feed.json").problems.map { problem in
                "\(problem.severity.rawValue): \(problem.message) [\(problem.path)]"
            }
    }

    @Test(arguments: [
        "", #""method": "QUERY""#, #""fields": { "Authorization": "Bearer ${TOKEN}" }"#, #""authorities": "ca.pem""#,
        #""statuses": [200, 404]"#, #""accept": ["application/json", "image/*"]"#,
        #""capacity": "1GB", "redirects": 0"#,
        #""connectLimit": "2s", "firstByteLimit": "5s", "limit": "20s", "connections": 2"#,
    ])
    func soundSettingsHaveNoWarnings(_ settings: String) throws {
        #expect(try Self.problems(settings) == [])
    }

    @Test func timeOfSignerIsLimitedAndOnlyForeverIsNot() throws {
        let settings = #""sign": "session", "anonymous": true"#
        #expect(try Self.problems(settings) == [])
        #expect(
            try Self.problems(settings + #", "limit": "forever""#) == [
                "warning: nothing limits the time of a call to 'http' [$.origin]"
            ])
    }

    @Test(arguments: [
        (#""anonymous": true"#, "all calls are anonymous: there is no 'sign' [$.origin.anonymous]"),
        (#""statuses": [200, 206]"#, "206 and 304 are no whole answers [$.origin.statuses]"),
        (
            #""statuses": [200, 301]"#,
            "301, 302, 303, 307 and 308 are redirects, which are followed or refused, never data [$.origin.statuses]"
        ),
        (
            #""fields": { "Host": "x" }"#,
            "the field 'host' cannot be set: the origin sets it itself [$.origin.fields.Host]"
        ),
        (
            #""fields": { "If-None-Match": "x" }"#,
            "the field 'if-none-match' cannot be set: the origin sets it itself [$.origin.fields.If-None-Match]"
        ),
        (#""fields": { "a b": "x" }"#, "this is not the name of a field [$.origin.fields.a b]"),
        (#""fields": { "a": "x\ny" }"#, "the value of a field is on one line [$.origin.fields.a]"),
        (#""fields": { "a": 1 }"#, "the number 1 is not allowed here [$.origin.fields.a]"),
        (#""accept": ["json"]"#, "this is not a media type [$.origin.accept]"),
        (#""sign": "nobody""#, "unknown signer 'nobody' [$.origin.sign]"),
        (#""method": "get""#, "this is not one of the choices [$.origin.method]"),
    ])
    func settingThatCannotWorkIsAnError(_ settings: String, _ message: String) throws {
        #expect(try Self.problems(settings).first == "error: " + message)
    }

    @Test func certificatesOfAPlainServerAreNotChecked() throws {
        #expect(
            try Self.problems(#""authorities": "ca.pem""#, url: "http://api.example/") == [
                "error: certificates are not checked: the URL begins with http:// [$.origin.authorities]"
            ])
    }

    @Test(arguments: [
        (#""trust": "policy", "fresh": "1m", "heuristic": "10%""#, true),
        (#""trust": "policy", "heuristic": "10%""#, false), (#""fresh": "1m", "heuristic": "10%""#, false),
        (#""trust": "policy", "fresh": "1m""#, false),
    ])
    func heuristicThatIsNeverUsedIsAnError(_ settings: String, _ isError: Bool) throws {
        let policy = #"""
            { "resource": "feed", "origin": { "use": "http", "url": "https://api.example/" }, "strategy": "cache-first",
              "validators": [{ "use": "http", \#(settings) }], "store": "memory" }
            """#
        let folder = try Folder()
        try folder.write(policy, to: "feed.json")
        let problems = PolicyReader(registry: .standard, folder: folder.path, environment: [:]).check("feed.json")
            .problems
        #expect(
            problems.filter { $0.severity == .error }.map(\.message)
                == (isError ? ["has no effect: with trust 'policy', 'fresh' decides for every copy"] : []))
    }

    @Test func wrongURLIsAnErrorWithItsReason() throws {
        #expect(
            try Self.problems("", url: "https://api.example/{id") == [
                "error: there is a '{' without its '}' [$.origin.url]"
            ])
    }

    @Test func resourcesShareConnectionsUntilTheLastIsGone() async throws {
        let made = Locked(0)
        final class Pool: Sendable {
            let line: Line

            init(_ line: Line) { self.line = line }
        }
        final class Line: Sendable {}
        let plugin = Plugin.origin("pooled", "Uses a pool.") { context in
            Pooled(
                pool: context.share("a") {
                    made.withLock { $0 += 1 }
                    // The closure that makes an object may share another one.
                    return Pool(context.share("a") { Line() })
                })
        }
        struct Pooled: Loader {
            let pool: Pool

            func load(_ call: Call) async throws -> Loaded<Entry> {
                Loaded(Entry(Data("\(ObjectIdentifier(pool))".utf8)))
            }
        }
        @Sendable func policy(_ name: String) -> String {
            #"{ "resource": "\#(name)", "origin": "pooled", "strategy": "network-only", "about": "x" }"#
        }
        try SimulatedPantry.run(["a": policy("a"), "b": policy("b")], plugins: [plugin]) { simulated async throws in
            let one = try await simulated.pantry.resource("a").load().text
            #expect(try await simulated.pantry.resource("b").load().text == one && made.withLock { $0 } == 1)
            let changed = policy("a").replacing("network-only", with: "cache-first")
            try await simulated.pantry.replace(policies: ["a": changed, "b": policy("b")])
            #expect(try await simulated.pantry.resource("a").load().text == one && made.withLock { $0 } == 1)
        }
    }
}
