import FoundationEssentials
import Larder
import LarderSimulation
import Testing

/// What a caller gets when the origin fails, and what when it says no.
@Suite struct ErrorTests {
    /// An error of the app's own, told apart by identity.
    private final class AppError: Error {}

    private static let week = #"[{ "use": "age", "fresh": "0s", "onError": "7d" }]"#
    private static let strategies = [#""network-first""#, #""cache-first""#, #""stale-while-revalidate""#]

    @Test(arguments: strategies)
    func anExpiredCopyAndAFailedOriginThrowTheOriginsOwnError(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.week)
            kitchen.stock("old", age: .seconds(7 * 86_400))
            let thrown = AppError()
            kitchen.origin.play(then: .throwing(thrown))
            let failure = try await kitchen.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(failure.code == .failed && failure.copyRefused && failure.store == nil)
            #expect(kitchen.held() == "old")
        }
    }

    @Test(arguments: strategies + [#""network-only""#])
    func nothingCachedAndAFailedOriginThrowTheOriginsOwnError(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.week)
            let thrown = AppError()
            kitchen.origin.play(then: .throwing(thrown))
            let failure = try await kitchen.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(failure.code == .failed && !failure.copyRefused)
        }
    }

    @Test(arguments: strategies)
    func theStoresErrorStandsBesideTheOrigins(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: strategy, validators: Self.week)
            let thrown = AppError()
            kitchen.origin.play(then: .throwing(thrown))
            kitchen.store.set(.fails, for: .read)
            let failure = try await kitchen.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect((failure.store as? StoreError)?.message == "told to fail")
        }
    }

    @Test func aStoreThatThrowsALoadErrorHasFailedLikeAnyOther() throws {
        try SimulatedWorld().run { world in
            for strategy in Self.strategies + [#""cache-only""#] {
                let kitchen = try await Kitchen(
                    world, strategy: strategy, store: #""odd""#,
                    plugins: [.store("odd", "Throws an answer.") { _ in OddStore() }])
                kitchen.origin.play(then: .failure(.status(503)))
                let failure = try await kitchen.start().failure()
                #expect(failure.code == (strategy.contains("cache-only") ? .notCached : .failed))
                #expect((failure.store as? LoadError)?.status == 404)
                #expect(kitchen.feed.metrics.storeFaults["store", default: 0] > 0)
            }
        }
    }

    @Test func theOriginsErrorSurvivesPatienceFallbacksAndWrappers() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(
                world, strategy: #"{ "use": "network-first", "patience": "1s" }"#,
                around: #"[{ "use": "retry", "retries": 1 }, { "use": "timeout", "after": "9s" }]"#,
                fallbacks: #"[{ "use": "file", "path": "absent.json" }]"#)
            let thrown = AppError()
            kitchen.origin.play(then: .throwing(thrown, after: .seconds(3)))
            let failure = try await kitchen.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(kitchen.origin.calls.count == 2)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 410, 422, 451])
    func an4xxIsAnAnswerThatNoCopyAndNoFallbackMasks(_ status: Int) throws {
        try expectAnswer(.status(status), drops: status == 404 || status == 410)
    }

    @Test func anAppsOwnAnswerIsNeverMasked() throws {
        try expectAnswer(.answer(), drops: false)
        try expectAnswer(.answer(status: 410), drops: true)
        try expectAnswer(.answer(status: 409, "conflict"), drops: false)
    }

    private func expectAnswer(_ answer: LoadError, drops: Bool) throws {
        for strategy in Self.strategies {
            try SimulatedWorld().run { world in
                let kitchen = try await Kitchen(
                    world, strategy: strategy, validators: Self.week, around: #"[{ "use": "retry", "retries": 2 }]"#,
                    fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
                kitchen.stock("old", age: .seconds(60))
                kitchen.origin.play(then: .failure(answer))
                let failure = try await kitchen.start().failure()
                #expect(failure.isAnswer && failure.status == answer.status && failure.message == answer.message)
                #expect(kitchen.origin.calls.count == 1, "an answer is not tried again")
                #expect(kitchen.held() == (drops ? nil : "old"))
            }
        }
    }

    @Test(arguments: [408, 425, 429, 500, 501, 502, 503, 504, 599])
    func a408Or425Or429OrAny5xxIsAFailure(_ status: Int) throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.week)
            kitchen.stock("old", age: .seconds(60))
            kitchen.origin.play(then: .failure(.status(status)))
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "old" && copy.fellBack && copy.freshness == .stale)
            #expect(kitchen.held() == "old")
        }
    }

    @Test func aPayloadThatDoesNotDecodeIsTheOriginsFailureAndTheCopyIsKept() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.week)
            let numbers = kitchen.pantry.resource("feed", as: [Int].self)
            kitchen.stock("[1]", age: .seconds(60))
            kitchen.origin.play(then: .value("[1, "))
            let copy = try await numbers.load()
            #expect(copy.value == [1] && copy.fellBack && copy.freshness == .stale)
            #expect(kitchen.held() == "[1]" && kitchen.store.bodyWrites == 0)
            try await numbers.clear()
            let failure = try await world.start { try await numbers.load() }.failure()
            #expect(failure.code == .undecodable && failure.origin is DecodingError)
            #expect(kitchen.held() == nil)
        }
    }

    @Test func aRefusedPayloadIsTheOriginsFailureAndTheCopyIsKept() throws {
        try SimulatedWorld().run { world in
            let picky = Plugin.validator("picky", "Refuses what is bad.") { _ in Picky() }
            let kitchen = try await Kitchen(
                world, strategy: #""network-first""#,
                validators: #"[{ "use": "age", "fresh": "0s", "onError": "7d" }, "picky"]"#, plugins: [picky])
            kitchen.stock("good", age: .seconds(60))
            kitchen.origin.play(then: .value("bad"))
            let copy = try await kitchen.feed.load()
            #expect(copy.text == "good" && copy.fellBack)
            #expect(kitchen.held() == "good" && kitchen.store.bodyWrites == 0)
            try await kitchen.feed.clear()
            let failure = try await kitchen.start().failure()
            #expect(failure.code == .refused && failure.origin as? Refusal == Refusal("it is bad"))
        }
    }
}

/// Admits no payload that reads "bad".
struct Picky: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival) throws(Refusal) {
        if entry.payload.bytes == Data("bad".utf8) { throw Refusal("it is bad") }
    }
}

/// Fails to read with what would be an origin's answer.
private struct OddStore: Store {
    func read(_ key: Key) async throws -> Found? { throw LoadError.answer(status: 404) }
    func write(_ entry: Entry, for key: Key) async throws -> Bool { true }
    func remove(_ selection: Selection) async throws {}
    func statistics() async -> StoreStatistics { StoreStatistics() }
}
