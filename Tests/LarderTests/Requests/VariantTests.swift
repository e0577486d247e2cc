import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Answers that vary by fields of the request.
@Suite struct VariantTests {
    private static let windows = #"[{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }]"#

    private func simulated(
        _ world: SimulatedWorld, strategy: String = #""cache-first""#, isStoreForeign: Bool = true
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: Self.windows, isStoreForeign: isStoreForeign)
        simulated.origin.play(then: .language(after: .milliseconds(50)))
        return simulated
    }

    // MARK: Apart

    @Test(arguments: FlightTests.strategies) func languagesShareNeitherCallNorCopy(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: strategy)
            let loads = ["de", "fr", "de"].map { simulated.start(simulated.request(in: $0)) }
            for (load, language) in zip(loads, ["de", "fr", "de"]) { #expect(try await load.value().text == language) }
            #expect(simulated.origin.calls.count == 2 && simulated.feed.metrics.coalesced == 1)
            let again = ["de", "fr"].map { simulated.start(simulated.request(in: $0)) }
            for (load, language) in zip(again, ["de", "fr"]) { #expect(try await load.value().text == language) }
            #expect(try await simulated.feed.load().text == "none", "a request without the field is a third variant")
        }
    }

    @Test func eachLanguageIsServedOffline() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            simulated.origin.play(then: .failure(.status(503)))
            try await world.sleep(for: .seconds(3_600))
            for language in ["fr", "de"] {
                let loaded = try await simulated.feed.load(simulated.request(in: language))
                #expect(loaded.text == language && loaded.source == .store("faulty") && loaded.fellBack)
            }
            #expect(try await simulated.start(simulated.request(in: "it")).failure().status == 503)
        }
    }

    @Test func hitOfVariantIsAnsweredAtOnce() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, isStoreForeign: false)
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            let reads = simulated.store.count(of: .read)
            for language in ["de", "fr"] {
                #expect(simulated.feed.answer(simulated.request(in: language))?.text == language)
            }
            #expect(simulated.feed.answer(simulated.request(in: "it")) == nil)
            #expect(simulated.feed.answer(simulated.feed.request()) == nil)
            #expect(simulated.store.count(of: .read) == reads)
        }
    }

    @Test func answerThatMatchesNoOtherRequestIsNotKept() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.stock("old", age: .zero)
            simulated.origin.play(then: .language(variesBy: ["*"]))
            let first = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(
                !first.isStored && first.trail.lines.contains("store: not saved: the answer matches no other request"))
            let loads = (1...2).map { _ in simulated.start(simulated.request(in: "de")) }
            for load in loads { #expect(try await load.value().source == .origin) }
            #expect(simulated.origin.calls.count == 2, "equal fields share the call")
            let older = simulated.store.entries[simulated.key()]
            #expect(older?.metadata.isExpired == true, "the older copy is out of date")
        }
    }

    // MARK: Sharing

    @Test func onlyNamedFieldsMatterOnceTheyAreKnown() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            let loads = ["one", "two"].map { simulated.start(simulated.request(in: "de", mode: .refresh, trace: $0)) }
            for load in loads { #expect(try await load.value().text == "de") }
            #expect(simulated.origin.calls.count == 2)
            #expect(try await simulated.feed.load(simulated.request(in: "de", trace: "3")).source == .store("faulty"))
        }
    }

    @Test func differentFieldsShareCallOnceAnswersAreKnownNotToVary() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .value("same", after: .milliseconds(50)))
            for calls in [2, 3] {
                let loads = ["de", "fr"].map { simulated.start(simulated.request(in: $0, mode: .refresh)) }
                for load in loads { #expect(try await load.value().text == "same") }
                #expect(simulated.origin.calls.count == calls)
            }
            #expect(try await simulated.feed.load(simulated.request(in: "it")).source == .store("faulty"))
        }
    }

    @Test func callerMakesCallOfItsOwnWhenSharedAnswerVariesByAnotherField() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            simulated.origin.play(
                then: .answering(after: .milliseconds(50)) { call in
                    var metadata = Metadata()
                    metadata.variesBy = ["x-trace"]
                    return Entry(Data((call.request.fields["X-Trace"] ?? "").utf8), metadata)
                })
            let loads = ["one", "two"].map { simulated.start(simulated.request(in: "de", mode: .refresh, trace: $0)) }
            #expect(try await loads[0].value().text == "one")
            #expect(try await loads[1].value().text == "two")
            #expect(simulated.origin.calls.count == 3)
            #expect(try await loads[1].value().trail.steps.contains { $0.event.kind == .anotherVariant })
            for trace in ["one", "two"] {
                #expect(try await simulated.feed.load(simulated.request(in: "de", trace: trace)).text == trace)
            }
            #expect(simulated.origin.calls.count == 3)
        }
    }

    // MARK: The origin

    @Test func originIsAskedAboutCopyOfSameLanguage() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(.language(etag: "1-"), .language(etag: "1-"), .unchanged(), .unchanged())
            for _ in 1...2 {
                for language in ["de", "fr"] {
                    let loaded = try await simulated.feed.load(simulated.request(in: language, mode: .refresh))
                    #expect(loaded.text == language)
                }
            }
            #expect(simulated.origin.calls.map { $0.known?.metadata.etag } == [nil, nil, "1-de", "1-fr"])
            #expect(simulated.store.entries.count == 3, "two variants and what they vary by")
        }
    }

    @Test func goneAnswerDropsOnlyItsVariant() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            simulated.origin.play(.failure(.status(404)))
            _ = try await simulated.start(simulated.request(in: "de", mode: .refresh)).failure()
            #expect(try await simulated.feed.contains(simulated.request(in: "de")) == false)
            #expect(try await simulated.feed.contains(simulated.request(in: "fr")))
        }
    }

    @Test func eachStaleVariantIsRefreshed() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world, strategy: #""stale-while-revalidate""#)
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            try await world.sleep(for: .seconds(600))
            for language in ["de", "fr", "de"] {
                let loaded = try await simulated.feed.load(simulated.request(in: language))
                #expect(loaded.text == language && loaded.freshness == .stale)
            }
            try await world.sleep(for: .seconds(1))
            #expect(simulated.origin.calls.count == 4 && simulated.feed.metrics.refreshes == 2)
        }
    }

    @Test func lateAnswerReplacesNoNewerAnswerOfItsVariant() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            simulated.origin.play(.language(after: .seconds(5)), .language(after: .seconds(9)))
            let slow = ["de", "fr"].map { simulated.start(simulated.request(in: $0, mode: .refresh)) }
            try await world.sleep(for: .seconds(1))
            // A changed wrapper makes a call of its own, which overtakes the slow one.
            try await simulated.edit(#""around": []"#, #""around": [{ "use": "timeout", "after": "1m" }]"#)
            _ = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh))
            #expect(try await slow[0].value().isStored == false)
            #expect(try await slow[1].value().isStored)
        }
    }

    // MARK: Clearing

    @Test func clearingKeyClearsItsVariants() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for id in ["1", "2"] {
                for language in ["de", "fr"] {
                    _ = try await simulated.feed.load(simulated.request(in: language, ["id": id]))
                }
            }
            #expect(simulated.store.entries.count == 6)
            let late = simulated.start(simulated.request(in: "it", ["id": "1"]))
            try await world.sleep(for: .milliseconds(10))
            try await simulated.feed.clear(["id": "1"])
            #expect(try await late.value().isStored == false)
            #expect(simulated.store.entries.count == 3)
            for language in ["de", "fr", "it"] {
                #expect(try await simulated.feed.contains(simulated.request(in: language, ["id": "1"])) == false)
                #expect(
                    try await simulated.feed.contains(simulated.request(in: language, ["id": "2"]))
                        == (language != "it"))
            }
        }
    }

    @Test func clearingTagOrScopeClearsVariants() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            simulated.origin.play(then: .language(tags: ["news"]))
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            try await simulated.feed.clear(.tag("news"))
            #expect(try await simulated.feed.contains(simulated.request(in: "de")) == false)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            try await simulated.feed.clear(.scope(nil))
            #expect(simulated.store.entries.isEmpty)
            #expect(try await simulated.feed.contains(simulated.request(in: "de")) == false)
        }
    }

    @Test func failedClearingHidesVariants() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            _ = try await simulated.feed.load(simulated.request(in: "de"))
            simulated.store.set(.fails, for: .remove)
            await #expect(throws: (any Error).self) { try await simulated.feed.clear([:]) }
            #expect(
                try await simulated.start(simulated.request(in: "de", mode: .cachedOnly)).failure().code == .notCached)
        }
    }

    // MARK: Streams

    @Test func streamFollowsOnlyItsVariant() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let simulated = try await simulated(world)
            let heard = Locked<[String]>([])
            let stream = simulated.feed.updates(simulated.request(in: "de"))
            world.spawn {
                do {
                    for try await update in stream {
                        if case .value(let loaded) = update { heard.withLock { $0.append(loaded.text) } }
                    }
                } catch { heard.withLock { $0.append("\(error)") } }
            }
            try await world.sleep(for: .seconds(1))
            _ = try await simulated.feed.load(simulated.request(in: "fr", mode: .refresh))
            _ = try await simulated.feed.load(simulated.request(in: "de", mode: .refresh, trace: "1"))
            try await world.sleep(for: .seconds(1))
            #expect(heard.withLock { $0 } == ["de", "de"])
        }
    }

    // MARK: Pins

    @Test func pinKeepsTheCopyOfTheRequestedVariant() throws {
        try SimulatedWorld().run { world in
            let simulated = try await simulated(world)
            for language in ["de", "fr"] { _ = try await simulated.feed.load(simulated.request(in: language)) }
            #expect(try await simulated.feed.pin(simulated.request(in: "de")))
            #expect(try await !simulated.feed.pin(simulated.request(in: "it")))
            #expect(simulated.store.pins.contains { $0.isVariant } && simulated.store.pins.count == 2)
            try await simulated.feed.unpin(simulated.request(in: "de"))
            #expect(!simulated.store.pins.contains { $0.isVariant })
        }
    }
}
