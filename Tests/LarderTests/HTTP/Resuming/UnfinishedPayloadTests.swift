import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Payloads that are not complete, as an origin of another package keeps them.
@Suite struct UnfinishedPayloadTests {
    private static let content = DownloadServer.content(400_000)

    /// An origin whose answers break off after 150,000 bytes each, and that tells where each one began.
    private final class Halves: Sendable {
        let starts = Locked<[Int]>([])

        var plugin: Plugin {
            .origin(
                "halves", "Breaks off.", Setting("url", .text, default: "v1", help: "The URL").identifiesData()
            ) { [self] context, _ in Origin(halves: self, context: context) }
        }

        private struct Origin: Loader {
            let halves: Halves
            let context: OriginContext

            func load(_ call: Call) async throws -> Loaded<Entry> {
                let kind = call.request.fields["kind"] ?? ""
                let kept = try await context.unfinishedPayload(for: call) { $0.etag == kind }
                halves.starts.withLock { $0.append(kept?.size ?? 0) }
                var metadata = Metadata()
                metadata.etag = kind
                let facts = metadata
                let sink = try await context.world.blocking {
                    try kept?.resume() ?? context.payloadSink(continuing: call, with: facts)
                }
                let (start, content) = (sink.size, UnfinishedPayloadTests.content)
                let end = min(start + 150_000, content.count)
                try await context.world.blocking {
                    for place in stride(from: start, to: end, by: 10_000) {
                        try sink.write(content[place..<min(place + 10_000, end)])
                    }
                }
                guard end == content.count else {
                    try await context.world.blocking { sink.suspend() }
                    throw LoadError(.failed, "broken off")
                }
                return Loaded(Entry(try await context.world.blocking { try sink.finish() }, metadata))
            }
        }
    }

    private static func run(
        _ test: @escaping @Sendable (SimulatedPantry, Halves) async throws -> Void
    ) throws {
        let halves = Halves()
        let policy = #"""
            { "resource": "feed", "origin": "halves", "strategy": { "use": "network-first", "rest": "0s" },
              "store": "file" }
            """#
        try SimulatedPantry.run(["feed": policy], plugins: [halves.plugin]) { try await test($0, halves) }
    }

    private static func fails(_ simulated: SimulatedPantry, _ id: String, scope: String? = nil) async {
        await #expect(throws: LoadError.self) { try await simulated.resource.load(["id": id], scope: scope) }
    }

    private static func parts(of simulated: SimulatedPantry) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: simulated.cache.path).filter { $0.hasSuffix(".part") }
    }

    @Test func eachCallGoesOnWhereTheLastOneStopped() throws {
        try Self.run { simulated, halves in
            for _ in 1...2 { await Self.fails(simulated, "1") }
            let loaded = try await simulated.resource.load(["id": "1"])
            #expect(loaded.value == Self.content && loaded.isStored)
            #expect(halves.starts.withLock { $0 } == [0, 150_000, 300_000])
            #expect(try Self.parts(of: simulated) == [])
        }
    }

    @Test func eachKeyAndKindHasItsOwn() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1")
            await Self.fails(simulated, "2")
            await Self.fails(simulated, "1", scope: "alice")
            let other = Request("feed", ["id": "1"], fields: ["kind": "b"])
            await #expect(throws: LoadError.self) { try await simulated.resource.load(other) }
            await Self.fails(simulated, "1")
            #expect(halves.starts.withLock { $0 } == [0, 0, 0, 0, 150_000])
        }
    }

    @Test func payloadOfAnotherSourceDoesNotGoOn() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1")
            let policy = #"""
                { "resource": "feed", "origin": { "use": "halves", "url": "v2" },
                  "strategy": { "use": "network-first", "rest": "0s" }, "store": "file" }
                """#
            try await simulated.pantry.replace(policies: ["feed": policy])
            for _ in 1...2 { await Self.fails(simulated, "1") }
            #expect(halves.starts.withLock { $0 } == [0, 0, 150_000])
        }
    }

    // MARK: Clearing

    @Test func logoutDeletesWhatTheAccountLeft() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1", scope: "alice")
            await Self.fails(simulated, "1", scope: "bob")
            await Self.fails(simulated, "1")
            try await simulated.pantry.clear(.scope("alice"))
            #expect(try Self.parts(of: simulated).count == 2)
            await Self.fails(simulated, "1", scope: "alice")
            await Self.fails(simulated, "1", scope: "bob")
            #expect(halves.starts.withLock { $0 } == [0, 0, 0, 0, 150_000])
            try await simulated.pantry.clear(.scope(nil))
            #expect(try Self.parts(of: simulated).count == 2)
            try await simulated.pantry.clear()
            #expect(try Self.parts(of: simulated) == [])
        }
    }

    @Test func clearingOfOneInstanceLeavesTheOthers() throws {
        try Self.run { simulated, _ in
            for id in ["1", "2"] { await Self.fails(simulated, id) }
            try await simulated.resource.clear(["id": "1"])
            #expect(try Self.parts(of: simulated).count == 1)
            try await simulated.resource.clear(.tag("any"))
            #expect(try Self.parts(of: simulated) == [])
        }
    }

    @Test func clearingReachesWhatNoPolicyNames() throws {
        try Self.run { simulated, _ in
            await Self.fails(simulated, "1", scope: "alice")
            await simulated.pantry.close()
            let other = try await SimulatedPantry(
                ["other": #"{ "resource": "other", "origin": "scripted", "strategy": "network-only" }"#],
                in: simulated.world, cache: simulated.cache)
            try await other.pantry.clear(.scope("bob"))
            try await other.pantry.clear(.scope("alice"))
            #expect(try Self.parts(of: simulated) == [])
        }
    }

    @Test func nextStartFinishesAClearing() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1", scope: "alice")
            await simulated.pantry.close()
            // As a process leaves it that was killed during a logout.
            try simulated.cache.write("larder-clearing 1\nscope alice\nend\n", to: ".places/clearing-0123456789abcdef")
            let policy = #"""
                { "resource": "feed", "origin": "halves", "strategy": { "use": "network-first", "rest": "0s" },
                  "store": "file" }
                """#
            let next = try await SimulatedPantry(
                ["feed": policy], in: simulated.world, plugins: [halves.plugin], cache: simulated.cache)
            await Self.fails(next, "1", scope: "alice")
            #expect(halves.starts.withLock { $0 } == [0, 0])
            #expect(try Self.parts(of: next).count == 1)
            await next.pantry.close()
        }
    }

    // MARK: Bounds

    @Test func oldPayloadIsOfNoUse() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1")
            try await simulated.world.sleep(for: .seconds(7 * 86_400 - 60))
            await Self.fails(simulated, "1")
            try await simulated.world.sleep(for: .seconds(60))
            await Self.fails(simulated, "1")
            #expect(halves.starts.withLock { $0 } == [0, 150_000, 0])
            #expect(try Self.parts(of: simulated).count == 1)
        }
    }

    @Test func fewPayloadsAreKept() throws {
        try Self.run { simulated, halves in
            for id in 1...20 { await Self.fails(simulated, "\(id)") }
            let parts = try Self.parts(of: simulated)
            #expect(parts.count == 16)
            await Self.fails(simulated, "20")
            await Self.fails(simulated, "1")
            #expect(halves.starts.withLock { $0 } == Array(repeating: 0, count: 20) + [150_000, 0])
        }
    }

    @Test func worthlessFilesAreDeleted() throws {
        try Self.run { simulated, halves in
            await Self.fails(simulated, "1")
            let part = try #require(try Self.parts(of: simulated).first)
            let folder = part.prefix(part.count - part.split(separator: "/")[2].count)
            for name in ["a.part", "b.notes"] { try simulated.cache.write("x", to: folder + name) }
            await Self.fails(simulated, "1")
            #expect(try Self.parts(of: simulated) == [part])
            #expect(halves.starts.withLock { $0 } == [0, 150_000])
            // Without its notes, a file is worthless, too.
            try FileManager.default.removeItem(
                atPath: simulated.cache.path + "/" + part.dropLast(".part".count) + ".notes")
            await Self.fails(simulated, "1")
            #expect(halves.starts.withLock { $0 } == [0, 150_000, 0])
            #expect(try Self.parts(of: simulated).count == 1)
        }
    }
}
