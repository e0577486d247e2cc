import Larder
import LarderSimulation
import Testing

@testable import LarderEditions

/// The promises about editions, each as one test.
@Suite struct EditionInvariantsTests {
    @Test func sameInstallationAndSaltGiveTheSameArm() {
        let audience = ChannelFile.Audience(share: 0.05, control: 0.05, salt: "42")
        var counts: [EditionArm: Int] = [:]
        for number in 0..<20_000 {
            let arm = EditionArm(of: "installation \(number)", in: audience)
            counts[arm, default: 0] += 1
            var grown = audience
            grown.share = 0.25
            let after = EditionArm(of: "installation \(number)", in: grown)
            #expect(arm == EditionArm(of: "installation \(number)", in: audience))
            #expect(arm != .trial || after == .trial, "who has the edition keeps it when the share grows")
            #expect(arm != .control || after == .control)
        }
        #expect((850...1_150).contains(counts[.trial] ?? 0) && (850...1_150).contains(counts[.control] ?? 0))
    }

    @Test func steerKeyBringsNoNewBytesIntoEffect() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        var app = try publisher.installation()
        publisher.offer(try publisher.edition(42, by: publisher.steer), 42)
        try publisher.publish(by: publisher.steer)
        try app.poll(publisher.files)
        #expect(app.running == 41)
        guard case .refused(nil, let error)? = app.events.last else { return #expect(Bool(false)) }
        #expect(error.code == .unknownKey)
    }

    @Test func bytesOnTheDiskAreVerifiedAgainAtEachStart() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        var app = try publisher.installation()
        app.close()
        let name = try #require(app.files.names.first { $0.hasPrefix("edition-") })
        app.files.contents[name]?[200] ^= 1
        try app.start()
        #expect(app.running == nil)
        try app.poll(publisher.files)
        #expect(app.running == 41, "the genuine bytes are fetched again")
    }

    @Test func everyKillLeadsToARunningApp() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        try publisher.publish(by: publisher.release)
        for changes in 0..<12 {
            var app = Installation(publisher.rules())
            try app.start()
            app.files.kill(after: changes)
            try? app.poll(publisher.files)
            app.answer(3)
            try? app.poll(publisher.files)
            app.kill()
            app.files.kill(after: nil)
            for _ in 0..<2 {
                try app.start()
                app.answer(3)
                try app.poll(publisher.files)
            }
            #expect(app.running == 41 && app.state?.confirmed != nil, "killed after \(changes) changes")
        }
    }

    @Test func everyPrefixOfAHistoryLeadsToARunningAppWithoutTheNetwork() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        var app = Installation(publisher.rules())
        app.compose = { $0.number == 43 ? EditionError(.unsound, "an error") : nil }
        app.files.history = []
        try app.start()
        var seen: Set<Int?> = []
        for number in 41...44 {
            publisher.offer(try publisher.edition(number), number)
            try publisher.publish(by: publisher.release)
            for _ in 0..<2 {
                try app.poll(publisher.files)
                app.answer(3)
            }
            seen.insert(app.running)
        }
        publisher.channel.editions[0].to.share = 0
        try publisher.publish()
        try app.poll(publisher.files)
        #expect(seen == [41, 42, 44] && app.running == 42)
        var started: [Int?] = []
        for contents in app.files.history {
            var next = Installation(publisher.rules(), files: MemoryFiles(contents))
            next.compose = app.compose
            try next.start()
            #expect(next.running != 43)
            if started.last != next.running { started.append(next.running) }
        }
        #expect(started == [nil, 41, 42, 44, 42], "each edition is there from some change on")
    }

    @Test func revisionNeverGoesBackWithTwoProcesses() throws {
        var publisher = try Publisher(in: SimulatedWorld())
        publisher.offer(try publisher.edition(41), 41)
        let old = publisher.files
        try publisher.publish(by: publisher.release)
        let first = publisher.files.merging(old) { $1 }
        publisher.channel.editions[0].to.share = 0
        try publisher.publish()
        // The other process gets the second revision before each access to a file in turn, while this one gets the first.
        for access in 0... {
            var app = Installation(publisher.rules())
            var other = Installation(publisher.rules(), files: MemoryFiles(sharing: app.files))
            try app.start()
            try other.start()
            var accesses = 0
            app.files.meanwhile = { [files = publisher.files] in
                if accesses == access { #expect(throws: Never.self) { try other.poll(files) } }
                accesses += 1
            }
            try app.poll(first)
            if accesses <= access { break }
            #expect(app.state?.revision == 2, "access \(access)")
            #expect(other.running == nil)
            app.files.meanwhile = nil
            try app.poll(first)
            #expect(app.state?.revision == 2)
            try app.poll(publisher.files)
            #expect(app.running == nil)
            #expect(access < 1_000)
        }
    }

    @Test func partsOfAnEditionAreNeverInEffect() throws {
        try EditionsTests.run { world, published, publisher, app in
            var (publisher, app) = (publisher, app)
            app.policies["news"] = EditionsTests.feed("network-only").replacing("feed", with: "news")
            let good = EditionsTests.feed("cache-first")
            for (number, strategy) in [(41, "cache-first"), (42, "no-such-strategy")] {
                let news = EditionsTests.feed(strategy).replacing("feed", with: "news")
                publisher.offer(
                    try publisher.edition(
                        number,
                        [
                            "feed.json": try JSON(reading: Array(good.utf8)),
                            "news.json": try JSON(reading: Array(news.utf8)),
                        ]), number)
            }
            // The edition with an error is the first to be tried.
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            published.files.withLock { $0["shop-41.edition"] = nil }
            let running = try await app.start()
            func strategies() async -> [String?] {
                await running.pantry.metrics.dump().resources.map { $0.revisions.last { $0.isCurrent }?.strategy }
            }
            try await world.sleep(for: .seconds(10))
            #expect(running.pantry.editions?.running == nil)
            #expect(await strategies() == ["network-only", "network-only"])
            published.files.withLock { [files = publisher.files] in $0 = files }
            try await world.sleep(for: .seconds(1_200))
            #expect(running.pantry.editions?.running == 41)
            #expect(await strategies() == ["cache-first", "cache-first"])
            await running.pantry.close()
        }
    }

    @Test(arguments: [
        #"{ "metrics": { "file": "other.json" } }"#, #"{ "log": { "file": "other.jsonl" } }"#, #"{ "channel": null }"#,
    ])
    func noEditionMutesMetricsOrChangesTheChannel(_ settings: String) throws {
        try EditionsTests.run { world, published, publisher, app in
            var publisher = publisher
            let edition = EditionFile(
                channel: "shop", number: 42, plugins: [:],
                policies: [
                    "feed.json": try JSON(reading: Array(EditionsTests.feed("cache-first").utf8)),
                    "_larder.json": try JSON(reading: Array(settings.utf8)),
                ])
            // No command makes such an edition, so it is signed by hand.
            var file = try SignedFile(.edition, payload: Array(edition.text.utf8))
            try file.sign(with: publisher.release)
            publisher.offer(file, 42)
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            let running = try await app.start()
            try await world.sleep(for: .seconds(3_600))
            #expect(published.asked.withLock { $0.contains("shop-42.edition") })
            #expect(running.pantry.editions?.running == nil)
            #expect(await EditionsTests.strategy(running) == "network-only")
            #expect(await running.pantry.metrics.dump().supply["why"] == "badFile")
            await running.pantry.close()
        }
    }

    @Test func startIsNotDelayedByAChannelThatNeverAnswers() throws {
        try EditionsTests.run { world, published, publisher, app in
            var publisher = publisher
            publisher.offer(
                try publisher.edition(
                    42, ["feed.json": try JSON(reading: Array(EditionsTests.feed("cache-first").utf8))]), 42)
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            for number in [nil, 42] {
                published.isSilent.withLock { $0 = true }
                let begin = world.uptime
                let running = try await app.start()
                #expect(running.pantry.editions?.running == number && world.uptime == begin)
                try await world.sleep(for: .seconds(10))
                #expect(published.asked.withLock { !$0.isEmpty })
                let asked = world.uptime
                _ = try await running.resource.load()
                #expect(world.uptime - asked < .seconds(1))
                await running.pantry.close()
                published.isSilent.withLock { $0 = false }
                let next = try await app.start()
                #expect(await next.pantry.editions?.poll() == true)
                await next.pantry.close()
            }
        }
    }
}
