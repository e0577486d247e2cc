import LarderFoundation
public import Larder

/// A suite that checks whether a wrapper keeps its promises, around an origin that answers, fails, hangs or ignores
/// cancellation.
///
/// ```swift
/// #expect(WrapperConformance(.polite, ["pause": "100ms"]).brokenPromises() == [])
/// ```
///
/// A wrapper that calls its origin more than once for a load must declare `WrapperTraits.tries`. A wrapper with a time limit
/// must declare `WrapperTraits.givesUpAfter`. A wrapper may refuse a call with a `LoadError` of the code `unavailable`.
public struct WrapperConformance: Sendable {
    let tested: TestedPlugin

    /// Creates the suite for a wrapper.
    ///
    /// - Parameters:
    ///   - plugin: the wrapper to test.
    ///   - settings: its settings, without `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        tested = TestedPlugin(plugin: plugin, settings: settings, registry: registry)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        checkValues(&findings)
        if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        checkFailures(&findings)
        checkAnswers(&findings)
        checkCancellation(&findings)
        checkIgnoredCancellation(&findings)
        checkConcurrency(&findings)
        checkSends(&findings)
        return findings.broken
    }

    /// The composed wrapper, around the origin of a simulated pantry.
    struct Wrapped: Sendable {
        var stage: SimulatedPantry
        var loader: any Loader
        var traits: WrapperTraits
        var origin: ScriptedOrigin { stage.origin }

        /// Starts a load in a task beside the scenario.
        func load(_ id: String = "1") -> ObservedTask<Loaded<Entry>> {
            ObservedTask(in: stage.world) { [loader] in
                try await loader.load(Call(Request(TestedPlugin.resource, ["id": id])))
            }
        }

        /// Runs a load, and waits for a second after its end.
        func loadAndRest() async throws -> ObservedTask<Loaded<Entry>> {
            let load = load()
            while load.ending == nil { try await stage.world.sleep(for: .seconds(1)) }
            try await stage.world.sleep(for: .seconds(1))
            return load
        }
    }

    /// Plays a situation with a new wrapper, and checks the result.
    func check<Seen: Sendable>(
        _ situation: String, _ findings: inout BrokenPromises, in world: SimulatedWorld = SimulatedWorld(),
        play: @escaping @Sendable (Wrapped, SimulatedWorld) async throws -> Seen,
        check: (Seen, inout BrokenPromises) -> Void
    ) {
        findings.check(situation) {
            try world.run(leaving: .anything) { try await play(try await wrapped($0), $0) }
        } check: { seen, findings in
            check(seen, &findings)
        }
    }

    /// Composes the wrapper and takes it out of its graph.
    func wrapped(_ world: SimulatedWorld) async throws -> Wrapped {
        let (stage, loader, part): (_, any Loader, _) = try await tested.composed(
            in: world, at: { .init("around", [$0]) }
        ) { setting, show in
            .wrapper("conformance-probe", "Shows the wrapper it is made of.", setting) { context, inner, part in
                let loader = try part.wrapper(around: inner, in: context)
                show(loader, part)
                return loader
            }
        }
        return Wrapped(stage: stage, loader: loader, traits: part.wrapperTraits)
    }

    // MARK: Values

    private static let metadata = Metadata(
        fetchedAt: Timestamp(seconds: 7), validatedAt: Timestamp(seconds: 8), etag: "e", lastModified: "l",
        contentType: "text/plain", tags: ["a", "b"], notes: ["a": .number(3), "b": .text("4")], spread: 0.5)

    private func checkValues(_ findings: inout BrokenPromises) {
        check("the origin sends a value, and then says unchanged", &findings) { wrapped, world in
            let entry = Entry(Data("value".utf8), Self.metadata)
            wrapped.origin.play(.answering { _ in entry }, .unchanged())
            let known = Entry(Data("known".utf8), Self.metadata)
            let fields: Fields = ["accept-language": "en"]
            let request = Request(TestedPlugin.resource, ["id": "1"], scope: "a", priority: .high, fields: fields)
            let call = Call(request, codec: .raw).knowing(known)
            let first = ObservedTask(in: world) { try await wrapped.loader.load(call) }
            try await world.sleep(for: .seconds(60))
            let second = ObservedTask(in: world) { try await wrapped.loader.load(call) }
            try await world.sleep(for: .seconds(7_200))
            return (
                entry: entry, sent: call, received: wrapped.origin.calls, first: first, second: second,
                leftRunning: wrapped.stage.leftRunning
            )
        } check: { seen, findings in
            let loaded = seen.first.value
            // The graph notes when the origin was asked.
            var metadata = seen.entry.metadata
            metadata.askedAt = loaded?.value.metadata.askedAt
            findings.expect(
                loaded?.value.payload === seen.entry.payload && loaded?.value.metadata == metadata
                    && loaded?.source == .origin && loaded?.freshness == .fresh && loaded?.fellBack == false,
                promise: .passesOn, expected: "the origin's entry with all its metadata", got: seen.first.inWords)
            let second = seen.second.value
            findings.expect(
                second?.source == .revalidated && second?.value.payload === seen.sent.known?.payload,
                promise: .passesOn,
                expected: "the origin's \"unchanged\"", got: seen.second.inWords)
            findings.expect(
                seen.received.count == 2, promise: .tries, expected: "one call for each load",
                got: "\(seen.received.count) for two")
            let odd = seen.received.contains {
                !$0.request.isSame(as: seen.sent.request) || $0.codec.id != seen.sent.codec.id || !$0.hasLooked
                    || $0.known?.payload !== seen.sent.known?.payload
            }
            findings.expect(
                !odd, promise: .passesOn, expected: "the call as it was sent",
                got: "another request, codec or known copy")
            findings.expectNothingLeft(seen.leftRunning)
        }
    }
}

extension Request {
    /// Whether a wrapper passed a request on. It may add fields.
    fileprivate func isSame(as sent: Request) -> Bool {
        var copy = self
        copy.fields = sent.fields
        return copy == sent && sent.fields.allSatisfy { fields.all($0.name).contains($0.value) }
    }
}
