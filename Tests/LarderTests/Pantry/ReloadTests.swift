import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A reload reads every changed file and no other.
@Suite struct ReloadTests {
    private static func policy(_ name: String, _ value: String, extends base: String? = nil) -> String {
        let base = base.map { #""extends": "\#($0)", "# } ?? ""
        return #"{ \#(base)"resource": "\#(name)", "origin": { "use": "constant", "value": \#(value) }, "#
            + #""strategy": "network-only" }"#
    }

    /// A pantry of these files, and the outcomes of its reloads.
    private struct Room {
        let folder: Folder
        let pantry: Pantry

        init(_ world: SimulatedWorld, _ files: [String: String]) async throws {
            folder = try Folder()
            for (name, text) in files { try folder.write(text, to: name) }
            pantry = try await Pantry(policies: folder.url, cache: folder.url, world: world)
        }

        func value(_ name: String) async throws -> String { try await pantry.resource(name).load().text }
        func graph(_ name: String) throws -> LoaderGraph { try pantry.resource(name).graph() }
        func reload(_ names: String...) async throws -> [String] {
            try await pantry.reload(names.isEmpty ? .anything : .files(Set(names))).map(\.resource)
        }
    }

    @Test func unchangedPolicyKeepsItsGraph() throws {
        try SimulatedWorld().run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", "1"), "b.json": Self.policy("b", "1")])
            let graphs = (try room.graph("a"), try room.graph("b"))
            #expect(try await room.reload().isEmpty)
            try room.folder.write(Self.policy("b", "2"), to: "b.json")
            // The file is written again with the same contents.
            try room.folder.write(Self.policy("a", "1") + "\n", to: "a.json")
            #expect(try await room.reload() == ["b"])
            #expect(try room.graph("a") === graphs.0)
            #expect(try room.graph("b") !== graphs.1)
            #expect(try await room.value("b") == "2")
        }
    }

    @Test func onlyNamedFilesAreExamined() throws {
        try SimulatedWorld().run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", "1"), "b.json": Self.policy("b", "1")])
            for name in ["a", "b"] { try room.folder.write(Self.policy(name, "2"), to: name + ".json") }
            #expect(try await room.reload("b.json", "b.json.tmp", "c.json") == ["b"])
            #expect(try await room.value("a") == "1")
            #expect(try await room.reload() == ["a"])
            try FileManager.default.removeItem(at: room.folder.url.appending(path: "a.json"))
            try room.folder.write(Self.policy("c", "3"), to: "c.json")
            #expect(try await room.reload("a.json", "c.json") == ["c", "a"])
            #expect(room.pantry.resources == ["b", "c"])
        }
    }

    @Test(arguments: [true, false]) func changeOfBaseReloadsExtendingPolicies(isNamed: Bool) throws {
        try SimulatedWorld().run { world in
            let base = #"{ "extends": "_deep.json", "around": [{ "use": "timeout", "after": "1s" }] }"#
            let room = try await Room(
                world,
                [
                    "_base.json": base, "_deep.json": #"{ "about": "one" }"#,
                    "a.json": Self.policy("a", "1", extends: "_base.json"),
                    "b.json": Self.policy("b", "1", extends: "_deep.json"), "c.json": Self.policy("c", "1"),
                ])
            func changed(_ name: String, _ text: String) async throws -> [String] {
                try room.folder.write(text, to: name)
                return isNamed ? try await room.reload(name) : try await room.reload()
            }
            #expect(try await changed("_base.json", base.with("1s", "2s")) == ["a"])
            #expect(try await changed("_deep.json", #"{ "about": "two" }"#) == ["a", "b"])
            #expect(room.pantry.policy(of: "a")?.about == "two")
            // A file that extended no other file does so from now on.
            #expect(try await changed("c.json", Self.policy("c", "1", extends: "_deep.json")) == ["c"])
            #expect(try await changed("_deep.json", #"{ "about": "six" }"#) == ["a", "b", "c"])
            // Without the base no policy can be read, and all stay as they are.
            try FileManager.default.removeItem(at: room.folder.url.appending(path: "_deep.json"))
            await #expect(throws: PolicyError.self) { try await room.reload("_deep.json") }
            await #expect(throws: PolicyError.self) { try await room.reload() }
            #expect(room.pantry.policy(of: "a")?.about == "six")
            #expect(try await changed("_deep.json", #"{ "about": "ten" }"#) == ["a", "b", "c"])
        }
    }

    @Test func fileWrittenTwiceWithinClockResolutionIsReadTwice() throws {
        let folder = try Folder()
        var reader = PolicyReader(registry: .standard, folder: folder.path)
        // The writes have the same length, and a clock that advances once a second gives them the same time.
        reader.files.seen = { stamp in
            var stamp = stamp
            for time in [\FileStamp.modified, \.changed] { stamp[keyPath: time] &= ~0x3FFF_FFFF }
            return stamp
        }
        var policies = PolicyFolder(reader)
        try folder.write(#"{ "about": "0000" }"#, to: "_base.json")
        for number in 1_002..<1_062 {
            let isBase = number % 2 == 0 && number > 1_002
            try folder.write(
                isBase ? #"{ "about": "\#(number)" }"# : Self.policy("a", "\(number)", extends: "_base.json"),
                to: isBase ? "_base.json" : "a.json")
            let found = try policies.changes()
            policies.tookEffect(isSupplied: false)
            #expect(found.policies.count == 1)
            #expect(isBase ? found.policies.first?.about == "\(number)" : found.policies.first != nil)
            #expect(try policies.changes().policies.isEmpty)
        }
    }

    @Test func replacementOfSameSizeAndTimeIsRead() throws {
        try SimulatedWorld().run { world in
            let room = try await Room(world, ["b.json": Self.policy("b", "1")])
            for value in 1...9 {
                try Disk.replace(
                    room.folder.path + "/a.json", with: [Array(Self.policy("a", "\(value)").utf8)],
                    modified: 1_000_000_000 * 1_000_000_000)
                #expect(try await room.reload() == ["a"])
                #expect(try await room.value("a") == "\(value)")
            }
        }
    }

    @Test func stampIsReliableOnlyAfterClockResolution() {
        var stamp = FileStamp(
            device: 1, inode: 2, size: 3, modified: 100 * 1_000_000_000, changed: 90 * 1_000_000_000,
            isFolder: false, isLinked: false)
        #expect(!stamp.isReliable(at: 102 * 1_000_000_000))
        #expect(stamp.isReliable(at: 102_000_000_001))
        stamp.changed = 101 * 1_000_000_000
        #expect(!stamp.isReliable(at: 102_000_000_001))
        // A stamp from the future is not reliable.
        #expect(!stamp.isReliable(at: 50 * 1_000_000_000))
    }

    @Test func unreadablePolicyIsReadOnceReadable() throws {
        try SimulatedWorld().run { world in
            let room = try await Room(world, ["a.json": Self.policy("a", "1"), "b.json": Self.policy("b", "1")])
            try room.folder.write("{", to: "a.json")
            await #expect(throws: PolicyError.self) { try await room.reload("a.json") }
            // Other policies wait with it, named or not.
            try room.folder.write(Self.policy("b", "2"), to: "b.json")
            let error = await #expect(throws: PolicyError.self) { try await room.reload("b.json") }
            #expect(error?.problems.count == 1)
            await #expect(throws: PolicyError.self) { try await room.reload() }
            #expect(try await room.value("b") == "1")
            try room.folder.write(Self.policy("a", "1"), to: "a.json")
            #expect(try await room.reload("a.json") == ["b"])
            #expect(try await room.value("b") == "2")
            #expect(try await room.reload().isEmpty)
        }
    }

    @Test func targetsOfLinksAreAlwaysExamined() throws {
        try SimulatedWorld().run { world in
            let elsewhere = try Folder()
            try elsewhere.write(Self.policy("a", "1"), to: "a.json")
            let room = try await Room(world, ["b.json": Self.policy("b", "1")])
            try FileManager.default.createSymbolicLink(
                at: room.folder.url.appending(path: "a.json"),
                withDestinationURL: elsewhere.url.appending(path: "a.json"))
            #expect(try await room.reload("a.json") == ["a"])
            try elsewhere.write(Self.policy("a", "2"), to: "a.json")
            #expect(try await room.reload("..data") == ["a"])
            #expect(try await room.value("a") == "2")
        }
    }

    @Test func changesNotTakenAreMerged() async {
        let stream = AsyncStream.changes { stream in
            for name in ["a", "b", "a", "c"] { stream.send(.files([name])) }
        }
        var changes = stream.makeAsyncIterator()
        #expect(await changes.next() == .files(["a", "b", "c"]))
        #expect(FolderChange.files(["a"]).and(.anything) == .anything)
        #expect(FolderChange.anything.and(.files(["a"])) == .anything)
    }
}
