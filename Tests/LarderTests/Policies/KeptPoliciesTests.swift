import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A pantry that starts while its policies are invalid.
@Suite struct KeptPoliciesTests {
    private static func policy(_ name: String, _ value: String, more: String = "") -> String {
        #"{ "resource": "\#(name)", "origin": { "use": "constant", "value": \#(value) }, "#
            + #""strategy": "network-only"\#(more) }"#
    }

    private let base: Folder
    private var cache: URL { base.url.appending(path: "cache") }

    init() throws {
        base = try Folder()
        for name in ["a", "b"] { try Disk.makeFolder(base.path + "/" + name) }
        try base.write(Self.policy("feed", "1"), to: "a/feed.json")
    }

    private func start(
        _ world: SimulatedWorld, _ folder: String = "a", ifUnsound: UnsoundPoliciesAction = .useLastSound,
        environment: [String: String] = [:]
    ) async throws -> Pantry {
        try await Pantry(
            policies: base.url.appending(path: folder), cache: cache, ifUnsound: ifUnsound, environment: environment,
            world: world)
    }

    private func value(_ pantry: Pantry, _ name: String = "feed") async throws -> String {
        String(decoding: try await pantry.resource(name).load().value, as: UTF8.self)
    }

    private var keptFiles: [String] {
        ((try? Disk.list(cache.path)) ?? []).map(\.name).filter { $0.hasPrefix("policies.") }
    }

    @Test func lastValidPoliciesReplaceBrokenOnesWithNotice() throws {
        try SimulatedWorld().run { [self] world in
            _ = try await start(world)
            try base.write("{", to: "a/feed.json")
            try base.write(#"{ "log": {} }"#, to: "a/_larder.json")
            await #expect(throws: PolicyError.self) { try await start(world, ifUnsound: .fail) }
            let pantry = try await start(world)
            #expect(try await value(pantry) == "1")
            #expect(
                pantry.warnings.map(\.description) == [
                    "\(base.path)/a: warning: not sound; the last sound policies are in effect"
                ])
            var events = pantry.events.makeAsyncIterator()
            guard case .rejected(let error)? = await events.next() else {
                Issue.record("nothing was told")
                return
            }
            #expect(error.problems.first?.file == base.path + "/a/feed.json")
            // The policies of the folder replace the kept ones as soon as they are valid.
            try base.write(Self.policy("feed", "2"), to: "a/feed.json")
            try await pantry.reload()
            #expect(try await value(pantry) == "2" && pantry.warnings.isEmpty)
        }
    }

    @Test func watchReplacesKeptPoliciesOnceFolderIsValid() throws {
        try SimulatedWorld().run(leaving: .anything) { [self] world in
            try base.write(Self.policy("old", "1"), to: "a/old.json")
            _ = try await start(world)
            try FileManager.default.removeItem(atPath: base.path + "/a/old.json")
            try base.write(Self.policy("new", "1"), to: "a/new.json")
            try base.write("{", to: "a/feed.json")
            let pantry = try await start(world)
            #expect(pantry.resources == ["feed", "old"])
            let watch = pantry.watch()
            try await world.sleep(for: .seconds(2))
            #expect(pantry.resources == ["feed", "old"])
            try base.write(Self.policy("feed", "3"), to: "a/feed.json")
            try await world.sleep(for: .seconds(2))
            #expect(pantry.resources == ["feed", "new"])
            #expect(try await value(pantry) == "3")
            watch.stop()
        }
    }

    @Test func keptPoliciesIncludeBasesSettingsAndFiles() throws {
        try SimulatedWorld().run { [self] world in
            try base.write(#"{ "origin": { "use": "file", "path": "seed.json" } }"#, to: "a/_base.json")
            try base.write(
                #"{ "extends": "_base.json", "resource": "feed", "strategy": "network-only" }"#, to: "a/feed.json")
            try base.write(#"{ "log": { "file": "told.jsonl" } }"#, to: "a/_larder.json")
            try base.write(#""seed""#, to: "a/seed.json.txt")
            try base.edit("a/_base.json", "seed.json", "seed.json.txt")
            _ = try await start(world)
            try base.write("{", to: "a/_base.json")
            try base.write("{", to: "a/_larder.json")
            let pantry = try await start(world)
            #expect(try await value(pantry) == #""seed""#)
            await pantry.close()
            // The log that the kept policies name says that they are used.
            #expect(try base.text(of: "cache/told.jsonl").contains("\"kind\":\"refused\""))
        }
    }

    @Test func onlyPoliciesThatTookEffectAreKept() throws {
        try SimulatedWorld().run { [self] world in
            let first = try await start(world)
            try base.write(Self.policy("feed", "2"), to: "a/feed.json")
            try await first.reload()
            try base.write("{", to: "a/feed.json")
            await #expect(throws: PolicyError.self) { try await first.reload() }
            #expect(try await value(try await start(world)) == "2")
        }
    }

    @Test func environmentValuesAreNotKept() throws {
        try SimulatedWorld().run { [self] world in
            try base.write(Self.policy("feed", #""${TOKEN}""#), to: "a/feed.json")
            _ = try await start(world, environment: ["TOKEN": "canary-77"])
            let name = try #require(keptFiles.first)
            let text = try base.text(of: "cache/" + name)
            #expect(text.contains("${TOKEN}") && !text.contains("canary"))
            let mode = try FileManager.default.attributesOfItem(atPath: cache.path + "/" + name)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            try base.write("{", to: "a/feed.json")
            #expect(try await value(try await start(world, environment: ["TOKEN": "other"])) == #""other""#)
            // Without the variable the kept policies are invalid, too.
            await #expect(throws: PolicyError.self) { try await start(world) }
        }
    }

    @Test func eachPolicyFolderHasItsOwnKeptPolicies() throws {
        try SimulatedWorld().run { [self] world in
            _ = try await start(world, "a")
            try base.write("{", to: "b/feed.json")
            await #expect(throws: PolicyError.self) { try await start(world, "b") }
            try base.write(Self.policy("feed", "2"), to: "b/feed.json")
            _ = try await start(world, "b")
            for folder in ["a", "b"] { try base.write("{", to: folder + "/feed.json") }
            #expect(try await value(try await start(world, "a")) == "1")
            #expect(try await value(try await start(world, "b")) == "2")
            #expect(keptFiles.count == 2)
        }
    }

    @Test func keptPoliciesReplaceMissingFolder() throws {
        try SimulatedWorld().run { [self] world in
            _ = try await start(world)
            try FileManager.default.removeItem(atPath: base.path + "/a")
            #expect(try await value(try await start(world)) == "1")
        }
    }

    @Test func changeOfBaseOrSettingsIsKeptAndNoChangeWritesNothing() throws {
        try SimulatedWorld().run { [self] world in
            try base.write(#"{ "about": "1" }"#, to: "a/_base.json")
            try base.write(Self.policy("feed", "1", more: #", "extends": "_base.json""#), to: "a/feed.json")
            let pantry = try await start(world)
            let path = cache.path + "/" + (try #require(keptFiles.first))
            func stamp() -> FileStamp? { Disk.stamp(of: path) }
            let first = stamp()
            try await pantry.reload()
            #expect(stamp() == first)
            try base.write(#"{ "about": "2" }"#, to: "a/_base.json")
            try await pantry.reload()
            let second = stamp()
            #expect(second != first)
            try base.write(#"{ "log": {} }"#, to: "a/_larder.json")
            try await pantry.reload()
            #expect(stamp() != second)
        }
    }

    @Test func nothingIsKeptByDefault() throws {
        try SimulatedWorld().run { [self] world in
            _ = try await start(world, ifUnsound: .fail)
            #expect(keptFiles.isEmpty)
        }
    }

    @Test func failureToKeepPoliciesIsReportedAndLoadsGoOn() throws {
        try SimulatedWorld().run { [self] world in
            try base.write("", to: "cache")
            let pantry = try await start(world)
            #expect(pantry.cacheProblems.map(\.part) == ["policies"])
            #expect(try await value(pantry) == "1")
        }
    }

    @Test func damagedOrHostileKeptPoliciesAreIgnored() throws {
        try SimulatedWorld().run { [self] world in
            _ = try await start(world)
            let path = cache.path + "/" + (try #require(keptFiles.first))
            let whole = try Disk.read(path, limit: 1 << 20)
            try base.write("{", to: "a/feed.json")
            func isUsed(_ bytes: [UInt8]) async throws -> Bool {
                try Disk.replace(path, with: [bytes])
                do {
                    _ = try await start(world)
                    return true
                } catch is PolicyError {
                    return false
                }
            }
            for length in stride(from: 0, to: whole.count, by: 7) {
                #expect(try await !isUsed(Array(whole[..<length])))
            }
            for place in stride(from: 0, to: whole.count, by: 3) {
                var bytes = whole
                bytes[place] ^= 4
                #expect(try await !isUsed(bytes), "a bit of byte \(place)")
            }
            let text = String(decoding: whole, as: UTF8.self)
            for other in ["../feed.json", "/etc/feed.json", "x.schema.json", ".feed.json", ""] {
                #expect(try await !isUsed(Array(text.with("\"feed.json\"", "\"\(other)\"").utf8)))
            }
            #expect(try await !isUsed([UInt8](repeating: UInt8(ascii: "["), count: 100_000)))
            #expect(try await isUsed(whole))
        }
    }
}
