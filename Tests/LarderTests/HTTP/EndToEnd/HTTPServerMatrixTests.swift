import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Each strategy in each situation, with a server as the origin.
@Suite(.timeLimit(.minutes(20))) struct HTTPServerMatrixTests {
    /// One cell of the design's table.
    struct Row: Sendable, CustomTestStringConvertible {
        enum Copy: String, Sendable { case none, fresh, stale }
        enum Event: String, Sendable { case works, unchanged, fails, gone }

        /// The outcome of a load. The first part of a value is its text; it is the older copy's if that is `old`.
        enum Outcome: Sendable, Equatable {
            case value(String, Source, Freshness, isStored: Bool, fellBack: Bool)
            case error(LoadError.Code, status: Int?)
        }

        var strategy: String
        var copy: Copy
        var event: Event
        var outcome: Outcome
        /// The number of requests, and the tag that they name.
        var calls: Int
        var tag: String?

        init(_ strategy: String, _ copy: Copy, _ event: Event, _ outcome: Outcome, calls: Int, tag: String? = "\"old\"")
        {
            (self.strategy, self.copy, self.event, self.outcome, self.calls) = (strategy, copy, event, outcome, calls)
            self.tag = copy == .none ? nil : tag
        }

        var testDescription: String { "\(strategy): copy \(copy.rawValue), origin \(event.rawValue)" }
    }

    @Test(arguments: rows)
    func loadEndsAsTheTableSays(_ row: Row) async throws {
        let asked = Gate()
        let server = try ScriptedServer { request in
            if request.target == "/fill" { return Self.old(row.copy) }
            return ScriptedReply(steps: [.open(asked)] + Self.answer(row.event).steps)
        }
        // The copy is filled by a policy with another strategy and a URL that gave the same data.
        let served = try await ServedPantry(
            server, url: "/fill", policy: Self.policy(#""use": "cache-first""#))
        if row.copy != .none { #expect(try await served.feed.load().isStored) }
        let filled = server.requests.count
        let policy = ServedPantry.policy(
            server, "/now", #""formerly": ["\#(server.url)/fill"]"#, Self.policy(#""use": "\#(row.strategy)""#))
        _ = try await served.pantry.replace(policies: ["feed": policy])
        let outcome: Row.Outcome
        do {
            let loaded = try await served.feed.load()
            outcome = .value(
                loaded.text, loaded.source, loaded.freshness, isStored: loaded.isStored, fellBack: loaded.fellBack)
        } catch let error as LoadError {
            outcome = .error(error.code, status: error.status)
        }
        #expect(outcome == row.outcome)
        if row.calls > 0 { try await asked.opened() }
        await served.pantry.close()
        let requests = server.requests.dropFirst(filled)
        #expect(requests.count == row.calls)
        #expect(requests.allSatisfy { $0["If-None-Match"] == row.tag && $0.target == "/now" })
    }

    private static func policy(_ strategy: String) -> String {
        #""strategy": { \#(strategy) }, "validators": ["http"], "store": "memory""#
    }

    private static let lifetime = "max-age=60, stale-while-revalidate=3600, stale-if-error=3600"

    private static func old(_ copy: Row.Copy) -> ScriptedReply {
        .answer(
            200, ["ETag": "\"old\"", "Cache-Control": lifetime, "Age": copy == .stale ? "120" : "0"], "old")
    }

    private static func answer(_ event: Row.Event) -> ScriptedReply {
        switch event {
        case .works: .answer(200, ["ETag": "\"new\"", "Cache-Control": lifetime], "new")
        case .unchanged: .answer(304, ["ETag": "\"old\"", "Cache-Control": lifetime, "Age": "0"])
        case .fails: .answer(503)
        case .gone: .answer(404)
        }
    }

    private static let live = Row.Outcome.value("new", .origin, .fresh, isStored: true, fellBack: false)
    private static let unstored = Row.Outcome.value("new", .origin, .fresh, isStored: false, fellBack: false)
    private static let confirmed = Row.Outcome.value("old", .revalidated, .fresh, isStored: true, fellBack: false)
    private static let notCached = Row.Outcome.error(.notCached, status: nil)

    private static func copy(_ freshness: Freshness, fellBack: Bool = false) -> Row.Outcome {
        .value("old", .store("memory"), freshness, isStored: true, fellBack: fellBack)
    }

    static let rows: [Row] =
        ["network-first", "cache-first", "stale-while-revalidate", "race", "network-only"].flatMap { strategy in
            [
                Row(strategy, .none, .works, strategy == "network-only" ? unstored : live, calls: 1),
                Row(strategy, .none, .fails, .error(.failed, status: 503), calls: 1),
                Row(strategy, .none, .gone, .error(.answer, status: 404), calls: 1),
            ]
        } + [
            Row("network-first", .fresh, .works, live, calls: 1),
            Row("network-first", .fresh, .unchanged, confirmed, calls: 1),
            Row("network-first", .fresh, .fails, copy(.fresh, fellBack: true), calls: 1),
            Row("network-first", .stale, .works, live, calls: 1),
            Row("network-first", .stale, .unchanged, confirmed, calls: 1),
            Row("network-first", .stale, .fails, copy(.stale, fellBack: true), calls: 1),
            Row("network-first", .stale, .gone, .error(.answer, status: 404), calls: 1),
            Row("cache-first", .fresh, .works, copy(.fresh), calls: 0),
            Row("cache-first", .fresh, .fails, copy(.fresh), calls: 0),
            Row("cache-first", .stale, .works, live, calls: 1),
            Row("cache-first", .stale, .unchanged, confirmed, calls: 1),
            Row("cache-first", .stale, .fails, copy(.stale, fellBack: true), calls: 1),
            Row("cache-first", .stale, .gone, .error(.answer, status: 404), calls: 1),
            Row("stale-while-revalidate", .fresh, .works, copy(.fresh), calls: 0),
            Row("stale-while-revalidate", .fresh, .fails, copy(.fresh), calls: 0),
            Row("stale-while-revalidate", .stale, .works, copy(.stale), calls: 1),
            Row("stale-while-revalidate", .stale, .unchanged, copy(.stale), calls: 1),
            Row("stale-while-revalidate", .stale, .fails, copy(.stale), calls: 1),
            Row("race", .fresh, .works, copy(.fresh), calls: 1),
            Row("race", .fresh, .fails, copy(.fresh), calls: 1),
            Row("race", .stale, .works, copy(.stale), calls: 1),
            Row("race", .stale, .fails, copy(.stale), calls: 1),
            Row("network-only", .fresh, .works, unstored, calls: 1, tag: nil),
            Row("network-only", .fresh, .fails, .error(.failed, status: 503), calls: 1, tag: nil),
            Row("network-only", .stale, .fails, .error(.failed, status: 503), calls: 1, tag: nil),
            Row("cache-only", .none, .works, notCached, calls: 0),
            Row("cache-only", .none, .fails, notCached, calls: 0),
            Row("cache-only", .fresh, .works, copy(.fresh), calls: 0),
            Row("cache-only", .fresh, .fails, copy(.fresh), calls: 0),
            Row("cache-only", .stale, .works, copy(.stale), calls: 0),
            Row("cache-only", .stale, .fails, copy(.stale), calls: 0),
        ]
}
