import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The errors that a caller gets when the origin fails or refuses.
@Suite struct ErrorTests {
    /// An error of an app, compared by identity.
    private final class AppError: Error {}

    private static let week = #"[{ "use": "age", "fresh": "0s", "onError": "7d" }]"#
    private static let strategies = [#""network-first""#, #""cache-first""#, #""stale-while-revalidate""#]

    @Test(arguments: strategies)
    func originErrorIsThrownIfCopyIsExpired(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.week)
            simulated.stock("old", age: .seconds(7 * 86_400))
            let thrown = AppError()
            simulated.origin.play(then: .throwing(thrown))
            let failure = try await simulated.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(failure.code == .failed && failure.copyRefused && failure.store == nil)
            #expect(simulated.held() == "old")
        }
    }

    @Test(arguments: strategies + [#""network-only""#])
    func originErrorIsThrownIfNothingIsCached(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.week)
            let thrown = AppError()
            simulated.origin.play(then: .throwing(thrown))
            let failure = try await simulated.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(failure.code == .failed && !failure.copyRefused)
        }
    }

    @Test(arguments: strategies)
    func storeErrorIsAttachedToOriginError(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: strategy, validators: Self.week)
            let thrown = AppError()
            simulated.origin.play(then: .throwing(thrown))
            simulated.store.set(.fails, for: .read)
            let failure = try await simulated.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect((failure.store as? StoreError)?.message == "told to fail")
        }
    }

    @Test func storeThatThrowsLoadErrorCountsAsFailed() throws {
        try SimulatedWorld().run { world in
            for strategy in Self.strategies + [#""cache-only""#] {
                let simulated = try await SimulatedPantry(
                    world, strategy: strategy, store: #""odd""#,
                    plugins: [.store("odd", "Throws an answer.") { _ in OddStore() }])
                simulated.origin.play(then: .failure(.status(503)))
                let failure = try await simulated.start().failure()
                #expect(failure.code == (strategy.contains("cache-only") ? .notCached : .failed))
                #expect((failure.store as? LoadError)?.status == 404)
                #expect(simulated.feed.metrics.storeFaults["store", default: 0] > 0)
            }
        }
    }

    @Test func originErrorPassesThroughPatienceFallbacksAndWrappers() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #"{ "use": "network-first", "patience": "1s" }"#,
                around: #"[{ "use": "retry", "retries": 1 }, { "use": "timeout", "after": "9s" }]"#,
                fallbacks: #"[{ "use": "file", "path": "absent.json" }]"#, files: ["other.json": "1"])
            let thrown = AppError()
            simulated.origin.play(then: .throwing(thrown, after: .seconds(3)))
            let failure = try await simulated.start().failure()
            #expect(failure.origin as? AppError === thrown)
            #expect(simulated.origin.calls.count == 2)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 410, 422, 451])
    func clientErrorIsNotMaskedByCopyOrFallback(_ status: Int) throws {
        try expectAnswer(.status(status), drops: status == 404 || status == 410)
    }

    @Test func answerOfAppIsNeverMasked() throws {
        try expectAnswer(.answer(), drops: false)
        try expectAnswer(.answer(status: 410), drops: true)
        try expectAnswer(.answer(status: 409, "conflict"), drops: false)
    }

    private func expectAnswer(_ answer: LoadError, drops: Bool) throws {
        for strategy in Self.strategies {
            try SimulatedWorld().run { world in
                let simulated = try await SimulatedPantry(
                    world, strategy: strategy, validators: Self.week, around: #"[{ "use": "retry", "retries": 2 }]"#,
                    fallbacks: #"[{ "use": "constant", "value": 1 }]"#)
                simulated.stock("old", age: .seconds(60))
                simulated.origin.play(then: .failure(answer))
                let failure = try await simulated.start().failure()
                #expect(failure.isAnswer && failure.status == answer.status && failure.message == answer.message)
                #expect(simulated.origin.calls.count == 1, "an answer is not tried again")
                #expect(simulated.held() == (drops ? nil : "old"))
            }
        }
    }

    @Test(arguments: [408, 425, 429, 500, 501, 502, 503, 504, 599])
    func status408And425And429And5xxAreFailures(_ status: Int) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.week)
            simulated.stock("old", age: .seconds(60))
            simulated.origin.play(then: .failure(.status(status)))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "old" && copy.fellBack && copy.freshness == .stale)
            #expect(simulated.held() == "old")
        }
    }

    @Test func undecodablePayloadIsOriginFailureAndCopyIsKept() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.week)
            let numbers = simulated.pantry.resource("feed", as: [Int].self)
            simulated.stock("[1]", age: .seconds(60))
            simulated.origin.play(then: .value("[1, "))
            let copy = try await numbers.load()
            #expect(copy.value == [1] && copy.fellBack && copy.freshness == .stale)
            #expect(simulated.held() == "[1]" && simulated.store.bodyWrites == 0)
            try await numbers.clear()
            let failure = try await world.start { try await numbers.load() }.failure()
            #expect(failure.code == .undecodable && failure.origin is DecodingError)
            #expect(simulated.held() == nil)
        }
    }

    @Test func refusedPayloadIsOriginFailureAndCopyIsKept() throws {
        try SimulatedWorld().run { world in
            let picky = Plugin.validator("picky", "Refuses what is bad.") { _ in Picky() }
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#,
                validators: #"[{ "use": "age", "fresh": "0s", "onError": "7d" }, "picky"]"#, plugins: [picky])
            simulated.stock("good", age: .seconds(60))
            simulated.origin.play(then: .value("bad"))
            let copy = try await simulated.feed.load()
            #expect(copy.text == "good" && copy.fellBack)
            #expect(simulated.held() == "good" && simulated.store.bodyWrites == 0)
            try await simulated.feed.clear()
            let failure = try await simulated.start().failure()
            #expect(failure.code == .refused && failure.origin as? Refusal == Refusal("it is bad"))
        }
    }
}

/// A validator that refuses the payload "bad".
struct Picky: Validator {
    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        if entry.payload.bytes == Data("bad".utf8) { throw Refusal("it is bad") }
        return .keep
    }
}

/// A store whose reads throw an error that an origin could answer with.
private struct OddStore: Store {
    func read(_ reading: Reading) async throws -> Found? { throw LoadError.answer(status: 404) }
    func write(_ entry: Entry, for key: Key) async throws -> Bool { true }
    func remove(_ selection: Selection) async throws {}
    func statistics() async -> StoreStatistics { StoreStatistics() }
}
