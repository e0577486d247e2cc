import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Copies that a change through the origin `http` puts out of date.
@Suite struct HTTPSendingTests {
    private typealias Answer = ScriptedTransport.Answer

    /// Loads two instances, sends a change, and returns the instances whose copies are not fresh any more.
    private func changed(
        by method: String, of parameters: [String: String] = ["id": "1"], _ status: Int = 200,
        _ fields: [(String, String)] = [], body: String? = "change",
        url: String = "https://api.example/items{/id}{?page}"
    ) throws -> [String] {
        let server = ScriptedTransport { request in
            request.fields.contains { $0.name == "x-change" }
                ? Answer(status, fields) : Answer(200, [("Cache-Control", "max-age=60")])
        }
        let more = #""validators": [{ "use": "http", "onError": "1h" }], "store": "memory""#
        return try server.run(strategy: #""cache-first""#, more: more, url: url) { simulated async throws in
            let feed = simulated.resource
            let instances = [["id": "1"], ["id": "ä/2"], ["id": "ä/2", "page": "3"], [:]]
            for instance in instances { _ = try await feed.load(instance) }
            let request = feed.request(parameters, fields: ["X-Change": "1"], body: body.map { Data($0.utf8) })
            _ = try? await feed.send(request, method: method)
            var changed: [String] = []
            for instance in instances where try await feed.load(instance).source == .origin {
                changed.append((instance["id"] ?? "") + (instance["page"] ?? ""))
            }
            return changed
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func changeMakesTheCopyOfItsURLStale(_ method: String) throws {
        #expect(try changed(by: method) == ["1"])
    }

    @Test func changeWithoutBodyMakesTheCopyOfItsURLStale() throws {
        #expect(try changed(by: "DELETE", body: nil) == ["1"])
    }

    @Test(arguments: ["GET", "OPTIONS"])
    func methodThatChangesNothingLeavesTheCopyFresh(_ method: String) throws {
        #expect(try changed(by: method, body: nil) == [])
    }

    @Test(arguments: [304, 404, 500])
    func changeThatFailsLeavesTheCopyFresh(_ status: Int) throws {
        #expect(try changed(by: "PUT", status) == [])
    }

    @Test(arguments: ["Location", "Content-Location"])
    func copyThatTheAnswerNamesIsStaleToo(_ name: String) throws {
        let cases = [
            ("/items/1", ["1", ""]), ("https://api.example/items/%C3%A4%2f2", ["ä/2", ""]),
            ("items/%C3%A4%2F2?page=3", ["ä/23", ""]), ("/other/1", [""]), ("https://other.example/items/1", [""]),
            ("http://api.example/items/1", [""]), ("/items/%FF", [""]), ("/items/1/2", [""]), ("", [""]),
        ]
        for (location, expected) in cases {
            #expect(try changed(by: "POST", of: [:], 201, [(name, location)]) == expected, "\(location)")
        }
    }
}
