import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// The origin `mirrors`: three origins for the same data here, `a`, `b` and `c`.
@Suite struct MirrorsTests {
    private struct Mirrored {
        let simulated: SimulatedPantry
        let origins: [ScriptedOrigin]

        init(_ world: SimulatedWorld, _ acts: ScriptedOrigin.Act..., strategy: String = #""network-first""#)
            async throws
        {
            origins = acts.map { ScriptedOrigin(then: $0, world: world) }
            simulated = try await SimulatedPantry(
                world, strategy: strategy, validators: #"[{ "use": "age", "fresh": "1h" }]"#,
                plugins: zip(origins, ["a", "b", "c"]).map { $0.plugin($1) },
                origin: #"{ "use": "mirrors", "origins": ["a", "b", "c"] }"#)
        }

        var calls: [Int] { origins.map(\.calls.count) }
    }

    @Test func onlyFirstMirrorIsCalledWhileItAnswers() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(world, .value("a"), .value("b"), .value("c"))
            for _ in 0..<3 { #expect(try await mirrored.simulated.feed.load().text == "a") }
            #expect(mirrored.calls == [3, 0, 0])
        }
    }

    @Test func nextMirrorIsCalledInOrderAfterFailure() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(
                world, .failure(.status(503), after: .seconds(1)), .throwing(Unexpected(description: "secret")),
                .value("c", after: .seconds(1)))
            let loaded = try await mirrored.simulated.feed.load()
            #expect(loaded.text == "c" && loaded.source == .origin && !loaded.fellBack && loaded.isStored)
            #expect(mirrored.calls == [1, 1, 1] && mirrored.origins[2].starts == [.seconds(1)])
            let lines = loaded.trail.lines.filter { $0.hasPrefix("mirror ") }
            #expect(lines == ["mirror a: the origin answered 503", "mirror b: failed with Unexpected"])
            let metrics = mirrored.simulated.feed.metrics
            #expect(metrics.originCalls == 1 && metrics.originErrors == 0, "to those around them they are one origin")
        }
    }

    @Test func answerThatIsAnErrorEndsSearch() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(world, .failure(.status(503)), .failure(.status(404)), .value("c"))
            mirrored.simulated.stock("old", age: .zero)
            #expect(try await mirrored.simulated.start().failure().status == 404)
            #expect(mirrored.calls == [1, 1, 0] && mirrored.simulated.held() == nil)
        }
    }

    @Test func firstErrorIsThrownIfAllMirrorsFail() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(
                world, .failure(.status(501)), .failure(.status(502)), .failure(.status(503)))
            #expect(try await mirrored.simulated.start().failure().status == 501)
            #expect(mirrored.calls == [1, 1, 1])
            mirrored.simulated.stock("old", age: .zero)
            #expect(try await mirrored.simulated.feed.load().fellBack)
        }
    }

    @Test func everyMirrorReceivesKnownCopy() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(world, .failure(.status(503)), .unchanged(), .value("c"))
            mirrored.simulated.stock("old", age: .seconds(60), etag: "e1")
            #expect(try await mirrored.simulated.feed.load().source == .revalidated)
            #expect(mirrored.origins.flatMap(\.calls).map { $0.known?.metadata.etag } == ["e1", "e1"])
        }
    }

    @Test func mirrorThatThrowsCancellationCountsAsFailed() throws {
        try SimulatedWorld().run { world in
            let mirrored = try await Mirrored(world, .throwing(CancellationError()), .value("b"), .value("c"))
            #expect(try await mirrored.simulated.feed.load().text == "b")
            let alike = try await Mirrored(
                world, .throwing(CancellationError()), .throwing(CancellationError()), .throwing(CancellationError()))
            let failure = try await alike.simulated.start().failure()
            #expect(failure.code == .failed && failure.origin is CancellationError)
        }
    }

    @Test func cancelledCallerCallsNoFurtherMirror() throws {
        try SimulatedWorld().run { world in
            let rude = Plugin.origin("a", "Throws an error of its own when cancelled.") { _ in Rude(world: world) }
            let other = ScriptedOrigin(world: world)
            let simulated = try await SimulatedPantry(
                world, strategy: #""network-first""#, plugins: [rude, other.plugin("b")],
                origin: #"{ "use": "mirrors", "origins": ["a", "b"] }"#)
            let load = simulated.start()
            try await world.sleep(for: .seconds(1))
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value() }
            try await world.settle()
            #expect(other.calls.isEmpty && simulated.feed.metrics.cancelled == 1)
        }
    }
}

/// An origin that throws an error of its own when it is cancelled, as networking libraries do.
private struct Rude: Loader {
    let world: SimulatedWorld

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do { try await world.sleep(for: .seconds(60)) } catch { throw Unexpected(description: "interrupted") }
        throw LoadError.status(503)
    }
}
