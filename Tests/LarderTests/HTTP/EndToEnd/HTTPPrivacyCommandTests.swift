import LarderFoundation
import Larder
import LarderSystem
import Testing

@testable import LarderCommand

/// Secrets in the URL, the fields, the parameters and the answers of requests are in no output of a command but the
/// value, and in no recording.
@Suite(.timeLimit(.minutes(20))) struct HTTPPrivacyCommandTests {
    @Test(arguments: ["--trail", "--json"])
    func loadShowsNoSecret(_ option: String) async throws {
        let larder = try CommandsOverHTTP()
        var texts = ""
        for place in 0..<CommandsOverHTTP.replies.count {
            // The first three requests concern the same copy.
            let output = await larder.run(
                "load", "feed", "id=canary\(place < 3 ? "" : " \(place)")", "--scope", "canary", option)
            texts += output.out + output.err
        }
        for word in ["http stale-if-error 60", "503", "429", "401", "fwd=", "redirect"] {
            #expect(texts.contains(word), "\(word)")
        }
        #expect(!texts.lowercased().contains("canary"), "\(texts)")
        #expect(larder.server.requests.allSatisfy { $0["X-Key"] == "canary" && $0["Authorization"] == "canary" })
    }

    @Test func reportsAndRecordingsContainNoSecret() async throws {
        let larder = try CommandsOverHTTP()
        let (trace, metrics) = (larder.folder.path + "/trace.jsonl", larder.folder.path + "/cache/metrics.json")
        // Without an outage, the calls that follow would rest.
        for id in ["canary", "canary 2"] {
            _ = await larder.run(
                "load", "feed", "id=\(id)", "--scope", "canary", "--watch", "--repeat", "12", "--every", "1ms",
                "--record", trace)
        }
        let recording = try larder.folder.text(of: "trace.jsonl")
        #expect(recording.split(separator: "\n").count == 24)
        var texts = recording + (try larder.folder.text(of: "cache/metrics.json"))
        for format in ["text", "html", "json", "prometheus", "openmetrics"] {
            let report = await larder.run("report", metrics, "--format", format)
            #expect(report.out.contains("feed") && report.err.isEmpty, "\(format): \(report.err)")
            texts += report.out
        }
        for format in ["text", "json"] {
            let simulation = await larder.run(
                "simulate", "--trace", trace, "--policies", larder.folder.path + "/policies", "--format", format)
            #expect(simulation.out.contains("feed"), "\(format): \(simulation.err)")
            texts += simulation.out + simulation.err
        }
        #expect(!texts.lowercased().contains("canary"))
    }
}

/// The command line with a resource `feed`, whose origin `http` asks a server with secrets.
private struct CommandsOverHTTP {
    private static let fields: KeyValuePairs = [
        "ETag": "\"canary\"", "Cache-Control": "max-age=0, stale-if-error=60, canary=canary", "Link": "<canary>",
        "Set-Cookie": "canary=canary", "Content-Type": "text/canary", "Content-Location": "/canary", "Vary": "X-Canary",
        "X-A": "canary",
    ]

    /// The answers of the server. Only the value of the first is shown.
    static let replies: [ScriptedReply] = [
        .answer(200, fields, "\"value\""), .answer(503, fields, "canary"), .answer(304, ["ETag": "\"canary\""]),
        .answer(302, ["Location": "canary://canary"]), .answer(429, ["Retry-After": "canary"], "canary"),
        .raw("HTTP/1.1 canary\r\ncanary\r\n\r\n"),
        .raw("HTTP/1.1 200 canary\r\nX-A: canary\r\nContent-Length: 100\r\n\r\ncanary"),
        .answer(401, fields, "canary"), .answer(403, fields, "canary"), .answer(404, fields, "canary"),
        .answer(500, fields, "canary"),
    ]

    let server: ScriptedServer
    let folder: Folder
    private let registry: Registry

    init() throws {
        server = try ScriptedServer { Self.replies[min($0.number, Self.replies.count) - 1] }
        folder = try Folder()
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "policies"), withIntermediateDirectories: true)
        let policy = ServedPantry.policy(
            server, "/items{/id}?key=${KEY}",
            #""method": "QUERY", "fields": { "X-Key": "${KEY}" }, "redirects": 1, "sign": "session""#,
            ServedPantry.keeping.replacing(#""memory""#, with: #""file""#))
        try folder.write(policy, to: "policies/feed.json")
        try folder.write(#"{ "metrics": { "file": "metrics.json" } }"#, to: "policies/_larder.json")
        var registry = Registry.standard
        try registry.register(
            .signer("session", account: { "canary" }) { request, _ in
                request.setField("Authorization", "canary")
                request.setField("Cookie", "canary")
            })
        self.registry = registry
    }

    /// Runs a command, and returns what it writes.
    func run(_ arguments: String...) async -> (out: String, err: String) {
        let (out, err) = (Locked<[UInt8]>([]), Locked<[UInt8]>([]))
        let terminal = Terminal(
            out: { bytes in out.withLock { $0 += bytes } }, err: { bytes in err.withLock { $0 += bytes } })
        let folders = ["--policies", "policies", "--cache", "cache", "--data", "data"].enumerated().map { place, word in
            place % 2 == 0 ? word : folder.path + "/" + word
        }
        _ = await LarderCommand.run(
            arguments + (arguments.first == "load" ? folders : []), registry: registry, environment: ["KEY": "canary"],
            terminal: terminal)
        return (
            String(decoding: out.withLock { $0 }, as: UTF8.self), String(decoding: err.withLock { $0 }, as: UTF8.self)
        )
    }
}
