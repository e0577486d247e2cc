#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
public import Larder

/// Whether a wrapper keeps its promises, around an origin that answers, fails, hangs or does not heed its cancellation.
///
/// ```swift
/// #expect(WrapperConformance(.polite, ["pause": "100ms"]).brokenPromises() == [])
/// ```
///
/// A wrapper that calls its origin more than once for a load declares ``Traits/tries``, and one that gives up declares
/// ``Traits/givesUpAfter``. It may refuse a call with a ``LoadError`` of the code `unavailable`.
public struct WrapperConformance: Sendable {
    let plugin: Plugin
    let settings: JSON
    let registry: Registry

    /// The suite for a wrapper.
    ///
    /// - Parameters:
    ///   - settings: what stands beside `"use"`.
    ///   - registry: the plugins that the settings may name.
    public init(_ plugin: Plugin, _ settings: JSON = [:], registry: Registry = .standard) {
        self.plugin = plugin
        self.settings = settings
        self.registry = registry
    }

    /// The promises that are not kept, each with the first situation in which that showed.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = Findings()
        judgeValues(&findings)
        if findings.broken.contains(where: { $0.promise == .composes }) { return findings.broken }
        judgeFailures(&findings)
        judgeAnswers(&findings)
        judgeCancellation(&findings)
        judgeDeafness(&findings)
        judgeCompany(&findings)
        return findings.broken
    }

    /// The wrapper itself, around the origin of a stage.
    struct Wrapped: Sendable {
        var stage: Stage
        var loader: any Loader
        var traits: Traits

        /// Starts a load beside the scenario.
        func load(_ id: String = "1") -> Watched<Loaded<Entry>> {
            Watched(in: stage.world) { [loader] in try await loader.load(Call(Request(Stage.resource, ["id": id]))) }
        }

        /// A load, and a second afterwards.
        func loadAndRest() async throws -> Watched<Loaded<Entry>> {
            let load = load()
            while load.ending == nil { try await stage.world.sleep(for: .seconds(1)) }
            try await stage.world.sleep(for: .seconds(1))
            return load
        }
    }

    /// Composes the wrapper and takes it out of its graph.
    func wrapped(_ world: SimulatedWorld) async throws -> Wrapped {
        let made = Locked<(any Loader, Traits)?>(nil)
        let probe = Plugin.wrapper(
            "conformance-probe", "Shows the wrapper it is made of.", Setting("of", .part(.wrapper), help: "The wrapper")
        ) { context, inner, part in
            let loader = try part.wrapper(around: inner, in: context)
            made.withLock { $0 = (loader, part.traits) }
            return loader
        }
        let around: JSON = ["use": "conformance-probe", "of": .use(plugin.name, settings)]
        let stage = try await Stage(
            world, [.init("around", [around])], plugins: [probe, plugin], registry: registry)
        guard let (loader, traits) = made.withLock({ $0 }) else {
            throw LoadError(.failed, "it was not composed")
        }
        return Wrapped(stage: stage, loader: loader, traits: traits)
    }

    // MARK: Values

    private static let metadata = Metadata(
        fetchedAt: Timestamp(seconds: 7), validatedAt: Timestamp(seconds: 8), etag: "e", lastModified: "l",
        contentType: "text/plain", tags: ["a", "b"], version: 3, checksum: 4, spread: 0.5)

    private struct Passage: Sendable {
        var entry: Entry
        var sent: Call
        var received: [Call]
        var first: Watched<Loaded<Entry>>
        var second: Watched<Loaded<Entry>>
        var answered: Bool
        var leftRunning: Int
    }

    private func judgeValues(_ findings: inout Findings) {
        findings.judge("the origin sends a value, and then says unchanged") {
            try SimulatedWorld().run(leaving: .anything) { world in
                let wrapped = try await wrapped(world)
                let entry = Entry(Data("value".utf8), Self.metadata)
                wrapped.stage.origin.play(.answering { _ in entry }, .unchanged())
                let known = Entry(Data("known".utf8), Self.metadata)
                let call = Call(Request(Stage.resource, ["id": "1"], scope: "a", priority: .high), codec: .raw)
                    .knowing(known)
                let answered =
                    wrapped.loader.answer(call.request, codec: .raw, for: .showing) != nil
                    || !wrapped.stage.origin.calls.isEmpty
                let first = Watched(in: world) { try await wrapped.loader.load(call) }
                try await world.sleep(for: .seconds(60))
                let second = Watched(in: world) { try await wrapped.loader.load(call) }
                try await world.sleep(for: .seconds(7_200))
                return Passage(
                    entry: entry, sent: call, received: wrapped.stage.origin.calls, first: first, second: second,
                    answered: answered, leftRunning: wrapped.stage.leftRunning)
            }
        } _: { seen, findings in
            let loaded = seen.first.value
            findings.expect(
                loaded?.value.payload === seen.entry.payload && loaded?.value.metadata == seen.entry.metadata
                    && loaded?.source == .origin && loaded?.freshness == .fresh && loaded?.fellBack == false,
                .passesOn, "the origin's entry with all its metadata", got: seen.first.inWords)
            let second = seen.second.value
            findings.expect(
                second?.source == .revalidated && second?.value.payload === seen.sent.known?.payload, .passesOn,
                "the origin's \"unchanged\"", got: seen.second.inWords)
            findings.expect(
                seen.received.count == 2, .tries, "one call for each load", got: "\(seen.received.count) for two")
            let odd = seen.received.contains {
                $0.request != seen.sent.request || $0.codec.id != seen.sent.codec.id || !$0.hasLooked
                    || $0.known?.payload !== seen.sent.known?.payload
            }
            findings.expect(!odd, .passesOn, "the call as it was sent", got: "another request, codec or known copy")
            findings.expect(
                !seen.answered, .noTrace, "no answer at once, and no call, where the origin has none", got: "one")
            findings.expect(
                seen.leftRunning == 0, .endsEverything, "nothing under way two hours later",
                got: "\(seen.leftRunning) tasks")
        }
    }
}
