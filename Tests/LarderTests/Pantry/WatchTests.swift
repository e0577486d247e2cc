import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// The changes that a watch acts on, and when.
@Suite struct WatchTests {
    private static func policy(_ name: String, _ value: Int, extends base: String? = nil) -> String {
        let base = base.map { #""extends": "\#($0)", "# } ?? ""
        return #"{ \#(base)"resource": "\#(name)", "origin": { "use": "constant", "value": \#(value) }, "#
            + #""strategy": "network-only" }"#
    }

    /// A watched pantry, and its events.
    private struct Room {
        let base: Folder
        let pantry: Pantry
        let watch: Subscription
        let told = Locked<[String]>([])
        var path: String { base.path + "/policies" }

        init(_ world: SimulatedWorld, _ files: [String: String]) async throws {
            base = try Folder()
            try Disk.makeFolder(base.path + "/policies")
            for (name, text) in files { try base.write(text, to: "policies/" + name) }
            pantry = try await Pantry(
                policies: base.url.appending(path: "policies"), cache: base.url.appending(path: "cache"), world: world)
            watch = pantry.watch()
            let events = pantry.events
            world.spawn { [told] in
                for await event in events {
                    let text =
                        switch event {
                        case .reloaded(let changes):
                            changes.map { $0.resource + ($0.to == nil ? " gone" : "") }.joined(separator: " ")
                        case .rejected(let error): error.problems.first?.message ?? ""
                        case .cacheUnusable, .cacheUsable, .interrupted, .offline, .online: "others"
                        }
                    told.withLock { $0.append(text) }
                }
            }
            try await world.sleep(for: .milliseconds(1_500))
        }

        func write(_ text: String, to name: String) throws { try base.write(text, to: "policies/" + name) }
        func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }
        func value(_ name: String) async throws -> String {
            String(decoding: try await pantry.resource(name).load().value, as: UTF8.self)
        }
        var events: [String] { told.withLock { $0 } }
    }

    /// The folder is examined half a second before and after each whole second of the test.
    private static func run(_ body: @escaping @Sendable (SimulatedWorld) async throws -> Void) throws {
        try SimulatedWorld().run(leaving: .anything) { world in try await body(world) }
    }

    @Test func rewrittenFileNeverLosesItsResource() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "b.json": Self.policy("b", 1)])
            try room.remove("a.json")
            try await world.sleep(for: .milliseconds(1_000))
            #expect(room.pantry.resources == ["a", "b"])
            try room.write(Self.policy("a", 2), to: "a.json")
            try await world.sleep(for: .seconds(3))
            #expect(try await room.value("a") == "2")
            #expect(room.events == ["a"])
        }
    }

    @Test func fileMissingForOneSecondRemovesResource() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "b.json": Self.policy("b", 1)])
            try room.remove("a.json")
            try await world.sleep(for: .milliseconds(1_400))
            #expect(room.pantry.resources == ["a", "b"])
            try await world.sleep(for: .milliseconds(300))
            #expect(room.pantry.resources == ["b"])
            #expect(room.events == ["a gone"])
        }
    }

    @Test func otherChangesTakeEffectWhileAFileIsMissing() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "b.json": Self.policy("b", 1)])
            try room.remove("a.json")
            try room.write(Self.policy("b", 2), to: "b.json")
            try await world.sleep(for: .milliseconds(700))
            #expect(try await room.value("b") == "2")
            #expect(room.pantry.resources == ["a", "b"])
        }
    }

    @Test func explicitReloadRemovesMissingFileAtOnce() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "b.json": Self.policy("b", 1)])
            try room.remove("a.json")
            try await world.sleep(for: .milliseconds(700))
            #expect(try await room.pantry.reload().map(\.resource) == ["a"])
            #expect(room.pantry.resources == ["b"])
        }
    }

    @Test func rewrittenBaseIsNoProblem() throws {
        try Self.run { world in
            let room = try await Room(
                world, ["a.json": Self.policy("a", 1, extends: "_base.json"), "_base.json": #"{ "about": "one" }"#])
            try room.remove("_base.json")
            try await world.sleep(for: .milliseconds(1_000))
            try room.write(#"{ "about": "two" }"#, to: "_base.json")
            try await world.sleep(for: .seconds(2))
            #expect(room.events == ["a"])
            #expect(room.pantry.policy(of: "a")?.about == "two")
            // A base that stays missing is a problem after one second.
            try room.remove("_base.json")
            try await world.sleep(for: .seconds(3))
            #expect(room.events.count == 2 && room.events.last?.contains("_base.json") == true)
        }
    }

    @Test func policiesStayWhileFolderIsMissing() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "b.json": Self.policy("b", 1)])
            try FileManager.default.removeItem(atPath: room.path)
            try await world.sleep(for: .seconds(30))
            #expect(room.pantry.resources == ["a", "b"])
            await #expect(throws: PolicyError.self) { try await room.pantry.reload() }
            try await world.sleep(for: .seconds(30))
            // Reported once by the watch, and once by the reload.
            let lost = "the folder of policies cannot be read: cannot list the folder: No such file or directory"
            #expect(room.events == [lost, lost])
            try Disk.makeFolder(room.path)
            try room.write(Self.policy("a", 2), to: "a.json")
            try await world.sleep(for: .milliseconds(1_300))
            #expect(try await room.value("a") == "2")
            #expect(room.pantry.resources == ["a", "b"])
            // The policy that does not return with the folder is removed one second later.
            try await world.sleep(for: .seconds(3))
            #expect(room.pantry.resources == ["a"])
            #expect(room.events == [lost, lost, "a", "b gone"])
        }
    }

    @Test func emptiedFolderIsRefusedOnce() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1), "_larder.json": #"{ "log": {} }"#])
            try room.remove("a.json")
            try room.remove("_larder.json")
            try await world.sleep(for: .seconds(60))
            #expect(room.pantry.resources == ["a"])
            #expect(room.events.count(where: { $0 == "there are no policies in this folder" }) <= 2, "\(room.events)")
            try room.write(Self.policy("a", 2), to: "a.json")
            try await world.sleep(for: .seconds(3))
            #expect(try await room.value("a") == "2")
        }
    }

    @Test func repairedPoliciesAreReported() throws {
        try Self.run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", 1)])
            try room.write("{", to: "a.json")
            try await world.sleep(for: .seconds(2))
            try room.write(Self.policy("a", 1), to: "a.json")
            try await world.sleep(for: .seconds(2))
            #expect(room.events.count == 2 && room.events.last == "")
        }
    }

    @Test func endedWatchLeavesNoTasks() throws {
        try SimulatedWorld().run { world in
            let folder = try Folder()
            for name in ["a", "b"] { try folder.write(Self.policy(name, 1), to: name + ".json") }
            let pantry = try await Pantry(policies: folder.url, cache: folder.url, world: world)
            let watch = pantry.watch()
            try await world.sleep(for: .milliseconds(1_500))
            try FileManager.default.removeItem(atPath: folder.path + "/a.json")
            // A file is missing, and the watch waits for it.
            try await world.sleep(for: .milliseconds(600))
            watch.stop()
            try await world.sleep(for: .seconds(5))
            #expect(pantry.resources == ["a", "b"])
        }
    }
}
