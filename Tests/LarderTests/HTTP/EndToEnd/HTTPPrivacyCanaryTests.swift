import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Secrets in requests and answers are written nowhere but into the store.
@Suite(.timeLimit(.minutes(20))) struct HTTPPrivacyCanaryTests {
    @Test func secretsAreShownNowhere() async throws {
        let fields: KeyValuePairs = [
            "ETag": "\"canary\"", "Cache-Control": "max-age=0, stale-if-error=60, canary=canary", "X-A": "canary",
            "Set-Cookie": "canary=canary", "Content-Type": "text/canary",
        ]
        let server = try ScriptedServer(
            .answer(200, fields, "canary"), .answer(503, fields, "canary"), .answer(304, ["ETag": "\"canary\""]),
            .answer(302, ["Location": "canary://canary"]), .answer(302, ["Location": "/canary"]),
            .answer(429, ["Retry-After": "canary"], "canary"),
            .raw("HTTP/1.1 200 canary\r\nX-A: canary\r\nContent-Length: 100\r\n\r\ncanary"),
            .raw("HTTP/1.1 canary\r\ncanary\r\n\r\n"), .answer(403, fields, "canary"), .answer(404, fields, "canary"),
            .answer(200, fields, String(repeating: "canary", count: 60_000)))
        let served = try await Self.served(server)
        var texts = ""
        for round in 1...14 {
            let (id, body) = round % 2 == 0 ? ("canary", "canary") : ("canary \(round)", "canary \(round)")
            let request = served.feed.request(
                ["id": round < 4 ? "canary" : id], scope: "canary", fields: ["cookie": "canary", "x-b": "canary"],
                body: Data((round < 4 ? "canary" : body).utf8))
            do {
                let loaded = try await served.feed.load(request)
                texts += "\(loaded.trail) \(loaded.source) \(request) \(String(reflecting: request))"
            } catch let error as LoadError {
                let reply = error.reply.map { "\($0) \(String(reflecting: $0))" } ?? ""
                texts += "\(error) \(error.trail) \(error.event) \(reply)"
            }
        }
        #expect(texts.contains("503") && texts.contains("http stale-if-error 60"))
        // The redirect leads to another path.
        let asked = server.requests.filter { $0.path != "/canary" }
        #expect(asked.allSatisfy { $0.target.contains("key=canary") && $0["X-Key"] == "canary" })
        texts += try await Self.told(of: served)
        #expect(!texts.lowercased().contains("canary"))
    }

    @Test func credentialsOfASignerAreShownNowhere() async throws {
        let server = try ScriptedServer(.answer(200, [:], "canary"), .answer(401, [:], "canary"))
        let signer = Plugin.signer("session", account: { "canary" }) { request, _ in
            request.setField("Authorization", "canary")
            request.setField("Cookie", "canary")
        }
        let served = try await Self.served(server, settings: #", "sign": "session""#, plugins: [signer])
        var texts = "\(try await served.feed.load(["id": "1"]).trail)"
        let error = try #require(await failure { try await served.feed.load(["id": "2"], mode: .refresh) })
        #expect(error.status == 401)
        texts += "\(error) \(error.trail) \(error.event)"
        texts += try await Self.told(of: served)
        #expect(!texts.lowercased().contains("canary"))
        #expect(server.requests.allSatisfy { $0["Authorization"] == "canary" })
    }

    private static func served(
        _ server: ScriptedServer, settings: String = "", plugins: [Plugin] = []
    ) async throws -> ServedPantry {
        try await ServedPantry(
            server, url: "/items{/id}?key=${KEY}",
            settings: #""method": "QUERY", "fields": { "X-Key": "${KEY}" }, "redirects": 1"# + settings,
            policy: ServedPantry.keeping.with(#""memory""#, #""file""#),
            process: #"{ "log": {}, "metrics": { "prometheus": "metrics.prom" } }"#, plugins: plugins,
            environment: ["KEY": "canary"])
    }

    /// Returns the text of the explanation, the metrics, the listing, the names of all files, and the files that the
    /// pantry writes for operations.
    private static func told(of served: ServedPantry) async throws -> String {
        let pantry = served.pantry
        let policy = try #require(pantry.policy(of: "feed"))
        let origin = policy.origin.map { "\($0) \($0.settings)" } ?? ""
        var texts = "\(Plan(policy).tree) \(policy) \(origin) \(pantry) \(pantry.warnings)"
        #expect(texts.contains("${KEY}"))
        let entries = try await served.feed.list().entries
        #expect(!entries.isEmpty)
        for entry in entries { texts += "\(entry.digest) \(entry.key.map { "\($0) \(String(reflecting: $0))" } ?? "")" }
        texts += await pantry.metrics.dump().json.text()
        await pantry.close()
        let names = try FileManager.default.subpathsOfDirectory(atPath: served.cache.path)
        texts += names.joined(separator: " ")
        let logs = names.filter { ["json", "jsonl", "prom"].contains($0.split(separator: ".").last.map(String.init)) }
        #expect(Set(logs).count == 3, "\(names)")
        for name in logs { texts += try served.cache.text(of: name) }
        return texts
    }
}
