import LarderFoundation
import Larder
import LarderBase
import LarderSimulation
import Testing

/// Another origin for networks that cost: its calls, its copies, and the choice of the app.
@Suite struct AlternativeOriginTests {
    private static let swr = #""stale-while-revalidate""#

    @Test func alternativeIsCalledWhereTheNetworkCosts() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            let loaded = try await scene.feed.load()
            #expect(loaded.text == "small" && scene.calls == [0, 1])
            #expect(scene.small.calls.last?.request.fields["Save-Data"] == "on")
            #expect(loaded.trail.steps.contains { $0.event.kind == .alternative })
            #expect(try await scene.feed.load().freshness == .fresh && scene.calls == [0, 1])
            world.network = DataSaverTests.wifi
            #expect(try await scene.feed.load(["id": "2"]).text == "large")
            #expect(scene.large.calls.last?.request.fields.isEmpty == true)
        }
    }

    @Test func ownCopyIsPreferredAndEachCopyIsRevalidatedAtItsOrigin() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load()
            // On a better network, the small copy is not fresh.
            world.network = DataSaverTests.wifi
            try await world.sleep(for: .seconds(1))
            #expect(try await scene.feed.load().text == "large" && scene.calls == [1, 1])
            #expect(scene.large.calls[0].known == nil)
            // A fresh copy of the policy's own origin costs nothing.
            world.network = DataSaverTests.mobile
            #expect(try await scene.feed.load().text == "large" && scene.calls == [1, 1])
            try await world.sleep(for: .seconds(600))
            scene.small.play(then: .unchanged())
            #expect(try await scene.feed.load().text == "small")
            #expect(scene.small.calls.last?.known?.metadata.etag == "s")
            world.network = DataSaverTests.wifi
            scene.large.play(then: .unchanged())
            #expect(try await scene.feed.load().text == "large")
            #expect(scene.large.calls.last?.known?.metadata.etag == "l" && scene.calls == [2, 2])
        }
    }

    @Test func copyOfTheAlternativeIsShownWithoutANetworkAndAfterAnError() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load()
            world.network = .offline
            let offline = try await scene.feed.load()
            #expect(offline.text == "small" && offline.freshness == .stale && offline.fellBack)
            world.network = DataSaverTests.wifi
            scene.large.play(then: .failure(.status(503)))
            let failed = try await scene.feed.load()
            #expect(failed.text == "small" && failed.freshness == .stale && scene.calls == [1, 1])
            // The refresh of the copy that was shown without a network.
            try await world.sleep(for: .seconds(3))
        }
    }

    @Test func staleCopyOfTheAlternativeIsShownWhileTheOwnOriginIsAsked() throws {
        try DataSaverScene.run(strategy: Self.swr) { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load()
            world.network = DataSaverTests.wifi
            let shown = try await scene.feed.load()
            #expect(shown.text == "small" && shown.freshness == .stale)
            try await world.sleep(for: .seconds(1))
            #expect(try await scene.feed.load().text == "large" && scene.calls == [1, 1])
        }
    }

    @Test func newerOneOfTwoFreshCopiesIsShown() throws {
        try DataSaverScene.run { world, scene in
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(60))
            world.network = DataSaverTests.mobile
            #expect(try await scene.feed.load(mode: .refresh).text == "small")
            #expect(scene.feed.answer(scene.feed.request())?.text == "small")
            #expect(try await scene.feed.load().text == "small" && scene.calls == [1, 1])
        }
    }

    @Test func newerOneOfTwoStaleCopiesIsShownWithoutANetwork() throws {
        try DataSaverScene.run { world, scene in
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(9 * 3_600))
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(60))
            world.network = .offline
            #expect(try await scene.feed.load().text == "small")
        }
    }

    @Test func originIsAskedAboutItsOwnCopyEvenIfTheOtherIsBetter() throws {
        try DataSaverScene.run(strategy: #""network-first""#) { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(600))
            world.network = DataSaverTests.wifi
            _ = try await scene.feed.load()
            world.network = DataSaverTests.mobile
            scene.small.play(then: .unchanged())
            #expect(try await scene.feed.load().text == "small")
            #expect(scene.small.calls.last?.known?.metadata.etag == "s")
        }
    }

    @Test func earlyRefreshOfAnOwnCopyDoesNotAskTheAlternative() throws {
        try DataSaverScene.run(strategy: #"{ "use": "cache-first", "refreshAhead": 0.5 }"#) { world, scene in
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(240))
            world.network = DataSaverTests.mobile
            for _ in 0..<5 { #expect(try await scene.feed.load().text == "large") }
            try await world.sleep(for: .seconds(1))
            #expect(scene.calls == [1, 0])
        }
    }

    @Test func refreshThatWaitedAsksTheOriginThatTheAppHasChosen() throws {
        let sections = #""expensive": { "refresh": false, "origin": "small" }"#
        try DataSaverScene.run(sections, strategy: Self.swr) { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load(fields: ["Save-Data": "on"])
            _ = try await scene.feed.load(["id": "2"])
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load(fields: ["Save-Data": "on"])
            _ = try await scene.feed.load(["id": "2"])
            #expect(scene.calls == [0, 2])
            world.network = DataSaverTests.wifi
            try await world.sleep(for: .seconds(5))
            #expect(scene.calls == [1, 3])
            #expect(scene.large.calls.last?.request.parameters["id"] == "2")
        }
    }

    @Test func refreshThatWaitedIsMadeByThePolicyInEffect() throws {
        try SimulatedWorld().run { world in
            world.network = DataSaverTests.wifi
            let cache = try TemporaryFolder()
            let scene = try await DataSaverScene(
                world, #""expensive": { "refresh": false }"#, strategy: Self.swr,
                store: #"{ "use": "file", "capacity": "1MB" }"#, cache: cache)
            let (first, second) = (#""scripted", "small""#, #""small", "scripted""#)
            let text = try scene.simulated.feed(
                with: #""origin": "scripted""#, #""origin": { "use": "mirrors", "origins": [\#(first)] }"#)
            try await scene.pantry.replace(policies: ["feed": text])
            try await world.sleep(for: .seconds(5))
            _ = try await scene.feed.load()
            world.network = DataSaverTests.mobile
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load()
            let swapped = text.replacing(first, with: second)
            try await scene.pantry.replace(policies: ["feed": swapped])
            world.network = DataSaverTests.wifi
            try await world.sleep(for: .seconds(5))
            #expect(scene.calls == [1, 1])
            // Another store at the same place opens when nothing holds the former one.
            world.network = DataSaverTests.mobile
            try await world.sleep(for: .seconds(600))
            _ = try await scene.feed.load()
            try await scene.pantry.replace(policies: ["feed": swapped.replacing("1MB", with: "2MB")])
            try await world.sleep(for: .seconds(5))
            #expect(try await scene.feed.contains())
            await scene.pantry.close()
        }
    }

    @Test func streamForOneOriginLeavesOutTheAnswersOfTheOther() throws {
        try DataSaverScene.run { world, scene in
            let seen = Locked<[String]>([])
            let following = world.spawn { [feed = scene.feed] in
                var updates = feed.updates(fields: ["Save-Data": "off"]).makeAsyncIterator()
                while case .value(let loaded)? = try? await updates.next() { seen.withLock { $0.append(loaded.text) } }
            }
            try await world.sleep(for: .seconds(1))
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load(mode: .refresh)
            try await world.sleep(for: .seconds(1))
            #expect(seen.withLock { $0 } == ["large"] && scene.calls == [1, 1])
            following.cancel()
            await following.value
        }
    }

    @Test func valueThatTheAppSavesBelongsToOneOrigin() throws {
        try DataSaverScene.run { world, scene in
            _ = try await scene.feed.save(Data("mine".utf8), for: scene.feed.request(fields: ["Save-Data": "on"]))
            #expect(try await scene.feed.load().text == "large")
            let off = scene.feed.request(["id": "2"], fields: ["Save-Data": "off"])
            _ = try await scene.feed.save(Data("full".utf8), for: off)
            let loaded = try await scene.feed.load(["id": "2"])
            #expect(loaded.text == "full" && scene.calls == [1, 0])
        }
    }

    @Test func appChoosesTheOriginOfALoad() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            let off = try await scene.feed.load(fields: ["Save-Data": "off"])
            #expect(off.text == "large")
            world.network = DataSaverTests.wifi
            let on = try await scene.feed.load(["id": "2"], fields: ["save-data": "on"])
            #expect(on.text == "small")
            #expect(scene.calls == [1, 1])
        }
    }

    @Test func copiesAreAnsweredAtOnce() throws {
        try DataSaverScene.run { world, scene in
            let (one, two) = (scene.feed.request(["id": "1"]), scene.feed.request(["id": "2"]))
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load(one)
            #expect(scene.feed.answer(one)?.text == "small")
            world.network = DataSaverTests.wifi
            #expect(scene.feed.answer(one) == nil)
            _ = try await scene.feed.load(two)
            #expect(scene.feed.answer(two)?.text == "large")
            world.network = DataSaverTests.mobile
            #expect(scene.feed.answer(two)?.text == "large")
            #expect(scene.calls == [1, 1])
        }
    }

    @Test func copiesOfBothOriginsSurviveARestartAndAreClearedTogether() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            func scene() async throws -> DataSaverScene {
                try await DataSaverScene(world, DataSaverScene.twoOrigins, store: #""file""#, cache: cache)
            }
            let first = try await scene()
            for network in [DataSaverTests.mobile, DataSaverTests.wifi] {
                world.network = network
                _ = try await first.feed.load(scope: "alice")
            }
            #expect(first.calls == [1, 1])
            await first.pantry.close()
            let second = try await scene()
            #expect(try await second.feed.load(scope: "alice").text == "large")
            try await world.sleep(for: .seconds(600))
            for origin in [second.large, second.small] { origin.play(then: .failure(.status(503))) }
            world.network = DataSaverTests.mobile
            #expect(try await second.feed.load(scope: "alice").text == "small")
            try await second.feed.clear(scope: "alice")
            for network in [DataSaverTests.mobile, DataSaverTests.wifi] {
                world.network = network
                await #expect(throws: LoadError.self) { try await second.feed.load(scope: "alice") }
            }
            await second.pantry.close()
        }
    }

    @Test func updatesFollowTheOriginOfTheNetwork() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            let seen = Locked<[String]>([])
            let following = world.spawn { [feed = scene.feed] in
                var updates = feed.updates().makeAsyncIterator()
                while case .value(let loaded)? = try? await updates.next() { seen.withLock { $0.append(loaded.text) } }
            }
            try await world.sleep(for: .seconds(1))
            world.network = DataSaverTests.wifi
            _ = try await scene.feed.load()
            try await world.sleep(for: .seconds(1))
            #expect(seen.withLock { $0 } == ["small", "large"] && scene.calls == [1, 1])
            following.cancel()
            await following.value
        }
    }

    @Test func pinKeepsTheCopiesOfBothOrigins() throws {
        try DataSaverScene.run(store: #"{ "use": "memory", "entries": 6 }"#) { world, scene in
            world.network = DataSaverTests.mobile
            _ = try await scene.feed.load(["id": "1"])
            world.network = DataSaverTests.wifi
            let isPinned = try await scene.feed.pin(["id": "1"])
            let isAnotherPinned = try await scene.feed.pin(["id": "2"])
            #expect(isPinned && !isAnotherPinned)
            for id in 3...30 { _ = try await scene.feed.load(["id": "\(id)"]) }
            let (first, third) = (
                try await scene.feed.contains(["id": "1"]), try await scene.feed.contains(["id": "3"])
            )
            #expect(first && !third)
        }
    }

    @Test func changesAreSentToTheOwnOrigin() throws {
        try DataSaverScene.run { world, scene in
            world.network = DataSaverTests.mobile
            let change = scene.feed.request(["id": "1"], body: Data("x".utf8))
            _ = try await scene.feed.send(change, method: "PUT")
            #expect(scene.large.sends.count == 1 && scene.small.sends.isEmpty)
        }
    }

    @Test func wrappersAroundTheTwoOriginsShareNoState() throws {
        try DataSaverScene.run(around: #"[{ "use": "breaker", "failures": 1, "rest": "1h" }]"#) { world, scene in
            world.network = DataSaverTests.mobile
            scene.small.play(then: .failure(.status(503)))
            for id in ["1", "2"] { _ = try? await scene.feed.load(["id": id]) }
            #expect(scene.calls == [0, 1])
            world.network = DataSaverTests.wifi
            let third = try await scene.feed.load(["id": "3"])
            #expect(third.text == "large")
        }
    }

    @Test func copiesFromBeforeTheSectionAreStillFound() throws {
        try DataSaverScene.run(#""about": "one origin""#) { world, scene in
            _ = try await scene.feed.load()
            let text = """
                { "resource": "feed", "origin": "scripted", "strategy": "cache-first",
                  "validators": [{ "use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "7d" }],
                  "store": "memory", \(DataSaverScene.twoOrigins) }
                """
            try await scene.pantry.replace(policies: ["feed": text])
            world.network = DataSaverTests.mobile
            #expect(try await scene.feed.load().text == "large" && scene.calls == [1, 0])
            try await scene.pantry.replace(policies: [
                "feed": text.replacing(DataSaverScene.twoOrigins, with: #""about": "x""#)
            ])
            world.network = DataSaverTests.wifi
            #expect(try await scene.feed.load().text == "large" && scene.calls == [1, 0])
        }
    }

    @Test func planShowsBothOrigins() throws {
        try DataSaverScene.run(around: #"["retry"]"#) { _, scene in
            let tree = Plan(try #require(scene.pantry.policy(of: "feed"))).tree
            #expect(tree.contains("network rules  (expensive)"))
            #expect(tree.contains("alternative: retry"))
            #expect(tree.contains("usual: retry"))
        }
    }

    @Test func uselessAlternativeIsAWarning() throws {
        try DataSaverScene.run(strategy: #""cache-only""#) { _, scene in
            #expect(scene.pantry.warnings.contains { $0.description.contains("the alternative origin has no effect") })
        }
    }
}
