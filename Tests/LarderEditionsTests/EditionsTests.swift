import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderEditions

/// A web server with the files of a channel.
final class PublishedFiles: Loader {
    let files = Locked<[String: [UInt8]]>([:])
    let isDown = Locked(false)
    /// Whether no question is answered.
    let isSilent = Locked(false)
    /// The files that were asked for, with `?` after those that were asked for by their etag.
    let asked = Locked<[String]>([])
    let world: any World

    init(in world: any World) { self.world = world }

    /// Publishes one edition, for all installations.
    func offer(_ number: Int, _ policies: [String: JSON], from publisher: Publisher) throws {
        var publisher = publisher
        publisher.offer(try publisher.edition(number, policies), number)
        try publisher.publish(by: publisher.release)
        files.withLock { [files = publisher.files] in $0 = files }
    }

    var plugin: Plugin {
        Plugin.origin("published", "The files of a channel.", traits: { .with { $0.parameters = ["file"] } }) { _ in
            self
        }
    }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await world.sleep(for: .milliseconds(50))
        let file = call.request.parameters["file"] ?? ""
        asked.withLock { $0.append(file + (call.known?.metadata.etag == nil ? "" : "?")) }
        if isSilent.withLock({ $0 }) { try await world.sleep(for: .seconds(1_000_000)) }
        if isDown.withLock({ $0 }) { throw LoadError(.failed, "down") }
        guard let bytes = files.withLock({ $0[file] }) else { throw LoadError(.answer, "no such file", status: 404) }
        let etag = "\"\(SHA256.hex(bytes).prefix(8))\""
        if call.known?.metadata.etag == etag { return try .unchanged(call) }
        return Loaded(Entry(Data(bytes), Metadata(etag: etag)))
    }
}

@Suite struct EditionsTests {
    static func feed(_ strategy: String) -> String {
        #"{ "resource": "feed", "origin": "scripted", "strategy": "\#(strategy)", "store": "memory" }"#
    }

    /// Runs a test with an app that has a channel.
    static func run(
        settings: String = "", cache: TemporaryFolder? = nil,
        _ test: @escaping @Sendable (SimulatedWorld, PublishedFiles, Publisher, App) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let published = PublishedFiles(in: world)
            let publisher = try Publisher(in: world)
            let keys = #""release": ["\#(publisher.release.publicKey)"], "steer": ["\#(publisher.steer.publicKey)"]"#
            let channel =
                #"{ "name": "shop", "origin": "published", \#(keys), "confirmAfter": 3, "every": "15m"\#(settings) }"#
            let app = App(
                policies: ["feed": feed("network-only"), "_larder": #"{ "channel": \#(channel) }"#], world: world,
                plugins: [published.plugin, .channel], data: try TemporaryFolder())
            try await test(world, published, publisher, app)
        }
    }

    struct App {
        var policies: [String: String]
        let world: SimulatedWorld
        let plugins: [Plugin]
        let data: TemporaryFolder

        func start() async throws -> SimulatedPantry {
            try await SimulatedPantry(policies, in: world, plugins: plugins, data: data)
        }
    }

    static func strategy(_ app: SimulatedPantry) async -> String? {
        await app.pantry.metrics.dump().resources.first?.revisions.last { $0.isCurrent }?.strategy
    }

    private static func policies(_ strategy: String) throws -> [String: JSON] {
        ["feed.json": try JSON(reading: Array(feed(strategy).utf8))]
    }

    @Test func changedPolicyReachesARunningApp() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(42, try Self.policies("cache-first"), from: publisher)
            let running = try await app.start()
            let editions = try #require(running.pantry.editions)
            var events = editions.events.makeAsyncIterator()
            #expect(editions.running == nil && world.uptime == .zero, "the start waits for nothing")
            try await world.sleep(for: .seconds(10))
            #expect(editions.running == 42 && editions.isTrial)
            #expect(await Self.strategy(running) == "cache-first")
            for _ in 0..<3 { _ = try await running.resource.load() }
            try await world.sleep(for: .seconds(1_200))
            #expect(await events.next() == .offered(42))
            #expect(await events.next() == .trial(42))
            #expect(await events.next() == .confirmed(42))
            let facts = await running.pantry.metrics.dump().supply
            #expect(facts["running"] == "42" && facts["state"] == "confirmed" && facts["revision"] == "1")
            #expect(facts["arm"] == "trial" && facts["offered"] == "42")
            await running.pantry.close()
            // The next start needs no network.
            published.isDown.withLock { $0 = true }
            let next = try await app.start()
            #expect(next.pantry.editions?.running == 42)
            #expect(await Self.strategy(next) == "cache-first")
            await next.pantry.close()
        }
    }

    @Test(arguments: ["cache-first": [["own"], ["42"]], "network-only": [["42", "own"]]])
    func dumpTellsTheEditionsOfEachRevision(_ strategy: String, supplied: [[String]]) throws {
        try Self.run { world, published, publisher, app in
            var publisher = publisher
            publisher.offer(try publisher.edition(42, try Self.policies(strategy)), 42)
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            let running = try await app.start()
            _ = try await running.resource.load()
            try await world.sleep(for: .seconds(10))
            _ = try await running.resource.load()
            try await running.pantry.editions?.pin(0)
            let text = await running.pantry.metrics.dump().json.text()
            let dump = try MetricsDump(reading: Array(text.utf8))
            #expect(dump.resources[0].revisions.map(\.supplied) == supplied)
            await running.pantry.close()
        }
    }

    @Test func unchangedChannelCostsOneConditionalRequest() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(42, try Self.policies("cache-first"), from: publisher)
            let running = try await app.start()
            try await world.sleep(for: .seconds(10))
            published.asked.withLock { $0 = [] }
            try await world.sleep(for: .seconds(1_000))
            #expect(published.asked.withLock { $0 } == ["shop.channel?"])
            await running.pantry.close()
        }
    }

    @Test func monthWithoutTheChannelIsNoFault() throws {
        try Self.run { world, published, publisher, app in
            published.isDown.withLock { $0 = true }
            let running = try await app.start()
            #expect(world.uptime == .zero)
            _ = try await running.resource.load()
            try await world.sleep(for: .seconds(30 * 86_400))
            #expect(running.pantry.editions?.running == nil, "a month without the channel is no fault")
            _ = try await running.resource.load()
            await running.pantry.close()
        }
    }

    @Test(arguments: [
        (#"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only", "store": "memory" }"#),
        (#"{ "resource": "feed", "origin": "scripted", "strategy": "network-only", "store": "memory", "log": "off" }"#),
        (#"{ "resource": "feed", "origin": "scripted", "strategy": "network-only", "store": "none" }"#),
    ])
    func editionCannotWidenItsReach(_ policy: String) throws {
        try Self.run { world, published, publisher, app in
            var publisher = publisher
            let policies = ["feed.json": try JSON(reading: Array(policy.utf8))]
            publisher.offer(try publisher.edition(42, policies), 42)
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            let running = try await app.start()
            let own = running.pantry.policy(of: "feed")?.revision
            try await world.sleep(for: .seconds(3_600))
            #expect(running.pantry.editions?.running == nil)
            #expect(running.pantry.policy(of: "feed")?.revision == own)
            let facts = await running.pantry.metrics.dump().supply
            #expect(facts["fate"] == "refused" && facts["why"] == "reach" && facts["running"] == "own")
            await running.pantry.close()
        }
    }

    @Test func sectionsOfTheProcessAreInNoEdition() throws {
        let publisher = try Publisher(in: SimulatedWorld())
        #expect(throws: EditionError.self) { try publisher.edition(42, ["_larder.json": ["metrics": [:]]]) }
    }

    @Test func pinnedEditionStaysUntilItIsReleased() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(41, try Self.policies("cache-first"), from: publisher)
            let running = try await app.start()
            try await world.sleep(for: .seconds(10))
            let editions = try #require(running.pantry.editions)
            try await editions.pin(0)
            #expect(editions.running == nil)
            #expect(await Self.strategy(running) == "network-only")
            try await world.sleep(for: .seconds(3_600))
            #expect(editions.running == nil)
            try await editions.pin(nil)
            #expect(editions.running == 41)
            await #expect(throws: EditionError.self) { try await editions.pin(7) }
            #expect(editions.running == 41)
            await running.pantry.close()
        }
    }

    @Test func choiceThatCannotBePutInEffectChangesNothing() throws {
        try Self.run { world, published, publisher, app in
            var publisher = publisher
            let unsound = ["feed.json": try JSON(reading: Array(Self.feed("no-such-strategy").utf8))]
            publisher.offer(try publisher.edition(42, try Self.policies("cache-first")), 42)
            try publisher.publish(by: publisher.release)
            published.files.withLock { [files = publisher.files] in $0 = files }
            let running = try await app.start()
            let editions = try #require(running.pantry.editions)
            try await world.sleep(for: .seconds(10))
            let bad = try publisher.edition(41, unsound)
            let path = try #require(
                FileManager.default.subpathsOfDirectory(atPath: app.data.path).first { $0.hasSuffix("/state.json") })
            try Data(bad.bytes).write(
                to: app.data.url.appending(path: path).deletingLastPathComponent()
                    .appending(path: "edition-" + bad.digest.suffix(64)))
            await #expect(throws: EditionError.self) { try await editions.pin(41) }
            #expect(editions.running == 42 && editions.isTrial)
            #expect(await Self.strategy(running) == "cache-first")
            try await world.sleep(for: .seconds(1_000))
            #expect(editions.running == 42, "the channel is followed as before")
            await running.pantry.close()
        }
    }

    @Test func fileThatIsNotThereIsToldAndTheNextEditionIsTaken() throws {
        try Self.run { world, published, publisher, app in
            var publisher = publisher
            publisher.offer(try publisher.edition(41, try Self.policies("cache-first")), 41)
            publisher.offer(try publisher.edition(42, try Self.policies("network-first")), 42)
            try publisher.publish(by: publisher.release)
            publisher.files["shop-42.edition"] = nil
            published.files.withLock { [files = publisher.files] in $0 = files }
            let running = try await app.start()
            var events = try #require(running.pantry.editions).events.makeAsyncIterator()
            try await world.sleep(for: .seconds(10))
            guard case .refused(nil, let error)? = await events.next() else { return #expect(Bool(false)) }
            #expect(error.code == .unreachable)
            #expect(running.pantry.editions?.running == 41)
            let facts = await running.pantry.metrics.dump().supply
            #expect(facts["fate"] == "unfetched" && facts["why"] == "unreachable" && facts["running"] == "41")
            await running.pantry.close()
        }
    }

    @Test func processesShareTheirPolls() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(42, try Self.policies("cache-first"), from: publisher)
            var processes: [SimulatedPantry] = []
            for _ in 0..<5 { processes.append(try await app.start()) }
            try await world.sleep(for: .seconds(10 * 900))
            #expect(processes.allSatisfy { $0.pantry.editions?.running == 42 })
            let count = published.asked.withLock { asked in asked.count { $0.hasPrefix("shop.channel") } }
            // Each process alone would have asked eleven times.
            #expect(count < 25)
            published.asked.withLock { $0 = [] }
            #expect(await processes[0].pantry.editions?.poll() == true)
            #expect(published.asked.withLock { $0 } == ["shop.channel?"], "whoever asks for a poll gets one")
            for process in processes { await process.pantry.close() }
        }
    }

    @Test func processThatRunsForLongWithoutALoadIsNoCrash() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(42, try Self.policies("cache-first"), from: publisher)
            let running = try await app.start()
            try await world.sleep(for: .seconds(10))
            func marks() throws -> Int {
                try FileManager.default.subpathsOfDirectory(atPath: app.data.path).count { $0.contains("/start-") }
            }
            #expect(try marks() == 1)
            try await world.sleep(for: .seconds(60))
            #expect(try marks() == 0)
            await running.pantry.close()
        }
    }

    @Test(arguments: [
        (#", "reach": ["strategi"]"#, "'reach' names 'strategi'"),
        (#", "emergency": "missing.edition""#, "there is no folder to read this file from"),
    ])
    func settingsThatCannotBeMeantAreErrors(_ row: (settings: String, error: String)) throws {
        try Self.run(settings: row.settings) { _, _, _, app in
            let error = await #expect(throws: PolicyError.self) { try await app.start() }
            #expect(error.map { "\($0)".contains(row.error) } == true, "\(String(describing: error))")
        }
    }

    @Test func keyThatReleasesAndSteersIsAnError() throws {
        let world = SimulatedWorld()
        let publisher = try Publisher(in: world)
        try world.run(leaving: .anything) { world in
            let key = publisher.release.publicKey
            let channel =
                #"{ "name": "shop", "origin": "scripted", "release": ["\#(key)"], "steer": ["\#(key)"] }"#
            await #expect(throws: PolicyError.self) {
                try await SimulatedPantry(
                    ["feed": Self.feed("network-only"), "_larder": #"{ "channel": \#(channel) }"#], in: world,
                    plugins: [.channel])
            }
        }
    }

    @Test func dueWorkAsksForTheChannel() throws {
        try Self.run { world, published, publisher, app in
            try published.offer(42, try Self.policies("cache-first"), from: publisher)
            let running = try await app.start()
            let report = await running.pantry.runDue(within: .seconds(25))
            #expect(report.items.map(\.section) == ["channel"] && report.items.map(\.result) == [.ran])
            #expect(running.pantry.editions?.running == 42)
            await running.pantry.close()
        }
    }
}
