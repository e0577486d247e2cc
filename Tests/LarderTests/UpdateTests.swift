import FoundationEssentials
import Larder
import LarderSimulation
import Testing

@Suite struct UpdateTests {
    /// What a stream said so far, one word each. It is listened to until the world ends.
    private static func listen(
        _ kitchen: Kitchen, to parameters: [String: String] = [:], _ world: SimulatedWorld
    ) -> Locked<[String]> {
        let heard = Locked<[String]>([])
        let stream = kitchen.feed.updates(parameters)
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

    @Test func theCopyComesFirstThenWhatTheOriginSaysThenWhatOthersSave() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.age)
            kitchen.stock("old", age: .seconds(600))
            kitchen.origin.play(.value("new", after: .seconds(1)))
            let heard = Self.listen(kitchen, world)
            try await world.sleep(for: .milliseconds(500))
            #expect(heard.withLock { $0 } == ["old stale"])
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "new fresh"])
            kitchen.origin.play(.value("newest"))
            _ = try await kitchen.feed.load(mode: .refresh)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "new fresh", "newest fresh"])
            // Another instance is none of this stream's business.
            _ = try await kitchen.feed.load(["page": "2"])
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0.count } == 3)
        }
    }

    @Test func anUnchangedCopyIsSaidToBeUnchanged() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Kitchen(world, strategy: #""network-first""#, validators: Self.age)
            kitchen.stock("old", age: .seconds(600), etag: "1")
            kitchen.origin.play(.unchanged())
            let heard = Self.listen(kitchen, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "unchanged"])
        }
    }

    @Test func anErrorAfterSomethingWasShownDoesNotEndTheStream() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#, validators: Self.age)
            kitchen.stock("old", age: .seconds(600))
            kitchen.origin.play(.failure(.status(503)))
            let heard = Self.listen(kitchen, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["old stale", "failed: the origin answered 503"])
            _ = try await kitchen.feed.load(mode: .refresh)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0.last } == "value fresh")
        }
    }

    @Test func anErrorBeforeAnythingWasShownIsThrown() throws {
        try SimulatedWorld().run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            kitchen.origin.play(.failure(.status(503)))
            let heard = Self.listen(kitchen, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["threw: the origin answered 503"])
        }
    }

    @Test func whereNothingIsKeptAFallbackStandsIn() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let kitchen = try await Kitchen(
                world, strategy: #""cache-first""#, fallbacks: #"[{ "use": "constant", "value": "seed" }]"#)
            kitchen.origin.play(.failure(.status(503)))
            let heard = Self.listen(kitchen, world)
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["\"seed\" stale"])
        }
    }

    @Test func whoStopsListeningLeavesNothingBehind() throws {
        let world = SimulatedWorld()
        try world.run { world in
            let kitchen = try await Kitchen(world, strategy: #""cache-first""#)
            let before = world.unfinished
            for try await _ in kitchen.feed.updates() { break }
            try await world.sleep(for: .seconds(1))
            #expect(world.unfinished == before)
        }
    }
}
