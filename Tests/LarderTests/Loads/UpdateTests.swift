import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

@Suite struct UpdateTests {
    /// The events of a stream so far, as words. The stream is read until the run ends.
    private static func listen(
        _ simulated: SimulatedPantry, to parameters: Parameters = [:], mode: Request.Mode = .normal,
        _ world: SimulatedWorld
    ) -> Locked<[String]> {
        let heard = Locked<[String]>([])
        let stream = simulated.feed.updates(parameters, mode: mode)
        world.spawn {
            do {
                for try await update in stream {
                    let word =
                        switch update {
                        case .value(let loaded): "\(loaded.text) \(loaded.freshness)"
                        case .unchanged: "unchanged"
                        case .failed(let error): "failed: \(error)"
                        }
                    heard.withLock { $0.append(word) }
                }
                heard.withLock { $0.append("end") }
            } catch {
                heard.withLock { $0.append("threw: \(error)") }
            }
        }
        return heard
    }

    private static let age = #"[{ "use": "age", "fresh": "1m", "onError": "1h" }]"#

    @Test func streamYieldsCopyThenAnswerThenLaterSaves() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.age)
            simulated.stock("old", age: .seconds(600))
            simulated.origin.play(.value("new", after: .seconds(1)))
            let heard = Self.listen(simulated, world)
            try await world.sleep(for: .milliseconds(500))
            #expect(heard.withLock { $0 } == ["old stale"])
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "new fresh"])
            simulated.origin.play(.value("newest"))
            _ = try await simulated.feed.load(mode: .refresh)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "new fresh", "newest fresh"])
            // Another instance is none of this stream's business.
            _ = try await simulated.feed.load(["page": "2"])
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0.count } == 3)
        }
    }

    @Test func unchangedAnswerIsYieldedAsUnchanged() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#, validators: Self.age)
            simulated.stock("old", age: .seconds(600), etag: "1")
            simulated.origin.play(.unchanged())
            let heard = Self.listen(simulated, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "unchanged"])
        }
    }

    @Test func errorAfterFirstValueDoesNotEndStream() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.age)
            simulated.stock("old", age: .seconds(600))
            simulated.origin.play(.failure(.status(503)))
            let heard = Self.listen(simulated, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "failed: the origin answered 503"])
            _ = try await simulated.feed.load(mode: .refresh)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0.last } == "value fresh")
        }
    }

    @Test func refreshingStreamBeginsWithAnswer() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.age)
            simulated.stock("old", age: .seconds(10))
            simulated.origin.play(.value("new"))
            let heard = Self.listen(simulated, mode: .refresh, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["new fresh"])
        }
    }

    @Test func cachedOnlyStreamDoesNotAskOrigin() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#, validators: Self.age)
            simulated.stock("old", age: .seconds(600))
            let heard = Self.listen(simulated, mode: .cachedOnly, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale"] && simulated.origin.calls.isEmpty)
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "value fresh"])
        }
    }

    @Test func errorBeforeFirstValueIsThrown() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            simulated.origin.play(.failure(.status(503)))
            let heard = Self.listen(simulated, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["threw: the origin answered 503"])
        }
    }

    @Test func fallbackIsYieldedIfNothingIsKept() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, fallbacks: #"[{ "use": "constant", "value": "seed" }]"#)
            simulated.origin.play(.failure(.status(503)))
            let heard = Self.listen(simulated, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["\"seed\" stale"])
        }
    }

    @Test func endedStreamLeavesNoTasks() throws {
        let world = SimulatedWorld()
        try world.run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""cache-first""#)
            let before = world.unfinished
            for try await _ in simulated.feed.updates() { break }
            try await world.sleep(for: .seconds(1))
            #expect(world.unfinished == before)
        }
    }
}
