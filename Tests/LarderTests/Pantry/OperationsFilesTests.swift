import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Dumps and the log when their folder or files are missing, moved or unusable.
@Suite struct OperationsFilesTests {
    private static let settings = #"{ "metrics": { "every": "1m", "keep": 2 }, "log": {} }"#

    /// A pantry with its own cache folder.
    private struct Room {
        let base: Folder
        let pantry: Pantry
        let told = Locked<[String]>([])
        var cache: String { base.path + "/cache" }

        init(
            _ world: SimulatedWorld, settings: String = OperationsFilesTests.settings,
            ifCacheUnusable: UnusableCacheAction = .goOn, _ prepare: (Folder) throws -> Void = { _ in }
        ) async throws {
            base = try Folder()
            try Disk.makeFolder(base.path + "/policies")
            try base.write(
                #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-only" }"#,
                to: "policies/feed.json")
            try base.write(settings, to: "policies/_larder.json")
            try prepare(base)
            pantry = try await Pantry(
                policies: base.url.appending(path: "policies"), cache: base.url.appending(path: "cache"),
                ifCacheUnusable: ifCacheUnusable, world: world)
            let events = pantry.events
            world.spawn { [told] in
                for await event in events {
                    let text =
                        switch event {
                        case .cacheUnusable(let problem): "\(problem.part) fails: \(problem.reason)"
                        case .cacheUsable(let problem): "\(problem.part) works"
                        case .interrupted(let note): note
                        case .reloaded, .rejected, .offline, .online: "others"
                        }
                    told.withLock { $0.append(text) }
                }
            }
            try await world.settle()
        }

        /// Makes a load that is written to the log.
        func load() async { _ = try? await pantry.resource("feed").load() }
        var events: [String] { told.withLock { $0 } }

        func lines(of name: String = "decisions.jsonl") throws -> Int {
            try base.text(of: "cache/" + name).count { $0 == "\n" }
        }

        func dump(_ name: String = "metrics.json") throws -> MetricsDump {
            try MetricsDump(reading: Array(base.text(of: "cache/" + name).utf8))
        }

        func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: base.path + "/" + name) }
        func move(_ name: String, to other: String) throws {
            try Disk.move(cache + "/" + name, to: cache + "/" + other)
        }
    }

    @Test func dumpsAndLogsCanBeReadByTheirOwnerOnly() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let settings = #"{ "metrics": { "every": "1m", "prometheus": "larder.prom" }, "log": {} }"#
            let room = try await Room(world, settings: settings)
            await room.load()
            try await world.sleep(for: .seconds(121))
            for name in ["metrics.json", "metrics.1.json", "larder.prom", "decisions.jsonl"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: room.cache + "/" + name)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test func pantryWorksWithoutLogAndWritesItLater() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world) { try Disk.makeFolder($0.path + "/cache/decisions.jsonl") }
            #expect(room.pantry.cacheProblems.map(\.part) == ["log"])
            #expect(room.events == ["log fails: cannot open the file: Is a directory"])
            for _ in 0..<5 {
                await room.load()
                try await world.sleep(for: .seconds(20))
            }
            #expect(room.events.count == 1)
            let dump = try room.dump()
            #expect(dump.unusable == [UnusablePart(resource: nil, part: "log")] && dump.logLost == 0)
            #expect(dump.prometheus.contains("larder_unusable{resource=\"\",part=\"log\"} 1"))
            try room.remove("cache/decisions.jsonl")
            try await world.sleep(for: .seconds(61))
            #expect(room.events.dropFirst() == ["log works"])
            // The lines of the meantime are not lost: the failure, the loads, and the recovery.
            #expect(try room.lines() == 7)
            #expect(try room.base.text(of: "cache/decisions.jsonl").contains("\"kind\":\"cacheUsable\""))
            try await world.sleep(for: .seconds(60))
            #expect(try room.dump().unusable == [] && room.pantry.cacheProblems.isEmpty)
        }
    }

    @Test func unwritableDumpIsReportedOnceAndOnRecovery() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world)
            try await world.sleep(for: .seconds(125))
            #expect(try room.dump("metrics.1.json").number == 0 && room.dump().number == 1)
            try room.remove("cache/metrics.json")
            try Disk.makeFolder(room.cache + "/metrics.json")
            try await world.sleep(for: .seconds(300))
            #expect(room.events == ["metrics fails: cannot put the file in place: Is a directory"])
            // Older dumps are not removed for a dump that cannot be written.
            #expect(try room.dump("metrics.1.json").number == 0)
            try room.remove("cache/metrics.json")
            try await world.sleep(for: .seconds(120))
            #expect(room.events.dropFirst() == ["metrics works"])
            #expect(try room.lines() == 2)
        }
    }

    @Test func cacheFolderThatIsFileFailsOnlyIfAppChoosesSo() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world) { try $0.write("", to: "cache") }
            await room.load()
            try await world.sleep(for: .seconds(100))
            #expect(
                room.events == [
                    "log fails: cannot make a folder: Not a directory",
                    "metrics fails: cannot make a folder: Not a directory",
                ]
                    || room.events == [
                        "log fails: cannot make a folder: File exists",
                        "metrics fails: cannot make a folder: File exists",
                    ], "\(room.events)")
            let error = await #expect(throws: PolicyError.self) {
                try await Room(world, ifCacheUnusable: .fail) { try $0.write("", to: "cache") }
            }
            let message = try #require(error?.description)
            #expect(message.hasPrefix("_larder.json: error: the files it names cannot be written in /"))
            #expect(message.contains("/cache: cannot make a folder: "))
            for name in ["metrics.json", "decisions.jsonl"] {
                await #expect(throws: PolicyError.self, "\(name)") {
                    try await Room(world, ifCacheUnusable: .fail) { try Disk.makeFolder($0.path + "/cache/" + name) }
                }
            }
        }
    }

    // MARK: Rotation

    @Test func movedLogIsBegunAgainUnderSameName() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world)
            await room.load()
            try await world.sleep(for: .seconds(2))
            // As logrotate does, the file is moved and an empty one made.
            try room.move("decisions.jsonl", to: "decisions.old")
            try room.base.write("", to: "cache/decisions.jsonl")
            for _ in 0..<3 {
                await room.load()
                try await world.sleep(for: .seconds(2))
            }
            #expect(try room.lines(of: "decisions.old") == 1)
            // The loads, and the line about the new file.
            #expect(try room.lines() == 4)
            #expect(room.events == ["the log had been moved, deleted or emptied, and is begun anew"])
        }
    }

    @Test func emptiedLogContinuesFromStart() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world, settings: #"{ "log": { "capacity": "1KB" } }"#)
            for _ in 0..<5 {
                await room.load()
                try await world.sleep(for: .seconds(2))
            }
            // As logrotate's copytruncate does.
            try room.base.write("", to: "cache/decisions.jsonl")
            for _ in 0..<5 {
                await room.load()
                try await world.sleep(for: .seconds(2))
            }
            #expect(try room.lines() == 6)
            #expect(Disk.item(room.cache + "/decisions.jsonl.1") == nil)
            #expect(room.events == ["the log had been moved, deleted or emptied, and is begun anew"])
        }
    }

    @Test func logAndDumpsAreWrittenAgainAfterFolderIsDeleted() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world)
            await room.load()
            try await world.sleep(for: .seconds(61))
            try room.remove("cache")
            await room.load()
            try await world.sleep(for: .seconds(1))
            #expect(try room.lines() == 2)
            try await world.sleep(for: .seconds(240))
            #expect(try room.dump().number == 4)
            #expect(
                room.events == [
                    "the log had been moved, deleted or emptied, and is begun anew",
                    "the file of the dump had been moved or deleted, and is begun anew",
                ])
        }
    }

    @Test func lostLinesAreReported() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world) { try Disk.makeFolder($0.path + "/cache/decisions.jsonl") }
            // More than a megabyte.
            for _ in 0..<10_000 { await room.load() }
            try room.remove("cache/decisions.jsonl")
            try await world.sleep(for: .seconds(121))
            let lost = try #require(try room.dump().logLost)
            #expect(lost > 0 && room.events.contains("lines that are missing in the log: \(lost)"))
            #expect(try room.dump().prometheus.contains("larder_log_lost_lines_total \(lost)"))
            // The first line reports the failure, and the last three the recovery.
            #expect(try room.lines() + lost == 10_000 + 3)
        }
    }
}
