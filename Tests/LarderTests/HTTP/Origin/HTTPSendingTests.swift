import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderPlugins

/// Copies that a change through the origin `http` puts out of date.
@Suite struct HTTPSendingTests {
    private typealias Answer = ScriptedTransport.Answer

    /// Loads two instances, sends a change, and returns the instances whose copies are not fresh any more.
    private func changed(
        by method: String, of parameters: Parameters = ["id": "1"], _ status: Int = 200,
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
            let instances: [Parameters] = [["id": "1"], ["id": "ä/2"], ["id": "ä/2", "page": "3"], [:]]
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

    @Test(arguments: [404, 500])
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

    @Test(arguments: [
        ("/items/{id}{.format}", ["id": "1", "format": "json"], "/items/1.json"),
        ("/items/{id}{.format}", ["id": "1.json"], "/items/1.json"),
        ("/items{.a,b}", ["a": "x.y", "b": "z"], "/items.x.y.z"), ("/items{.a,b}", ["b": "x"], "/items.x"),
        ("/items{;page,size}", ["page": "2", "size": "3"], "/items;page=2;size=3"),
        ("/items{;page,size}", ["size": ""], "/items;size"),
        ("/items/{id}.json", ["id": "a.json"], "/items/a.json.json"),
        ("/items{?a,b}", ["a": "1", "b": "2"], "/items?b=2&a=1"), ("/items{?a,b}", ["b": ""], "/items?b="),
        ("/items?x=1{&a,b}", ["a": "1", "b": "ä&b"], "/items?b=%c3%a4%26b&x=1&a=1"),
        ("/items?q={q}&x=1{&a}", ["q": "1", "a": "2"], "/items?x=1&a=2&q=1"),
        ("/{+path}{?a}", ["path": "items/1", "a": "1"], "/items/1?a=1"),
    ])
    func copyWhoseURLTheAnswerNamesIsStale(_ url: String, _ instance: [String: String], _ location: String) throws {
        #expect(try isStale(instance, afterAnswerThatNames: location, url: url))
    }

    @Test(arguments: [
        ("/items{?a,b}", ["a": "1"], "/items?a=1&c=2"), ("/items{?a,b}", ["a": "1"], "/items?a=1&a=1"),
        ("/items?x=1{&a}", ["a": "1"], "/items?a=1"), ("/items{;a}", ["a": "1"], "/items;b=1"),
        ("/items{.a}", ["a": "1"], "/items;1"), ("/items{?a,b}", ["a": "1", "b": "2"], "/items?a=2&b=1"),
    ])
    func copyWithAnotherURLThanTheAnswerNamesIsFresh(
        _ url: String, _ instance: [String: String], _ location: String
    ) throws {
        #expect(try !isStale(instance, afterAnswerThatNames: location, url: url))
    }

    /// Loads an instance, sends a change whose answer names a URL, and returns whether the copy is not fresh any more.
    private func isStale(
        _ instance: [String: String], afterAnswerThatNames location: String, url: String
    ) throws -> Bool {
        let (instance, other) = (Parameters(instance), Parameters(instance.mapValues { _ in "0" }))
        let server = ScriptedTransport { request in
            request.method == "PUT"
                ? Answer(200, [("Location", location)]) : Answer(200, [("Cache-Control", "max-age=60")])
        }
        return try server.run(
            strategy: #""cache-first""#, more: #""validators": ["http"], "store": "memory""#,
            url: "https://api.example" + url
        ) { simulated async throws in
            let feed = simulated.resource
            _ = try await feed.load(instance)
            _ = try await feed.send(feed.request(other), method: "PUT")
            return try await feed.load(instance).source == .origin
        }
    }

    @Test func longURLWithManyReadingsIsReadInTime() throws {
        let location = "/" + String(repeating: "a.", count: 4_000)
        #expect(try !isStale(["id": "1"], afterAnswerThatNames: location, url: "/{a}{b}{c}{.d,e,f}{id}"))
    }

    @Test(arguments: [["Location": "/items/1"], [:]])
    func lookupsWithOtherBodiesAtAChangedURLAreStale(_ fields: [String: String]) throws {
        let server = ScriptedTransport { request in
            request.method == "PUT"
                ? Answer(200, fields.map { ($0, $1) }) : Answer(200, [("Cache-Control", "max-age=60")])
        }
        try server.run(
            #""method": "POST""#, strategy: #""cache-first""#, more: #""validators": ["http"], "store": "memory""#
        ) { simulated async throws in
            let feed = simulated.resource
            let lookups = [("1", "a"), ("1", "b"), ("2", "a")].map { id, body in
                feed.request(["id": id], scope: "ada", body: Data(body.utf8))
            }
            let others = [
                feed.request(["id": "1"], scope: "ada"), feed.request(["id": "1"], scope: "bob", body: Data("a".utf8)),
            ]
            for request in lookups + others { _ = try await feed.load(request) }
            let id = fields.isEmpty ? "1" : "9"
            _ = try await feed.send(feed.request(["id": id], scope: "ada", body: Data("c".utf8)), method: "PUT")
            var isChanged: [Bool] = []
            for request in lookups + others { isChanged.append(try await feed.load(request).source == .origin) }
            #expect(isChanged == [true, true, false, true, false])
        }
    }
}
