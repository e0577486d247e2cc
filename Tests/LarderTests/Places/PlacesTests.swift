import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The listing of places, their use by several pantries, and their deletion.
@Suite struct PlacesTests {
    private static let week = Duration.seconds(7 * 86_400)

    @Test(arguments: [
        ("feed", "entries", "feed/entries"), ("a/b", "../x", "a%2fb/%2e%2e%2fx"), ("..", ".", "%2e%2e/%2e"),
        ("\u{c}3", "x.sqlite", "%0c3/x.sqlite"), (".places", "manifest", "%2eplaces/manifest"),
    ])
    func unsafeNamesAreEncodedInPaths(resource: String, name: String, path: String) {
        #expect(PlaceName(resource: resource, name).path == path)
        #expect(PlaceName(path: path[...]) == PlaceName(resource: resource, name))
    }

    @Test(arguments: [
        "entries", "notes/entries", "notes@entries", "notes%2fentries", "@", ".x", String(repeating: "x", count: 119),
        String(repeating: "/", count: 1_000),
    ])
    func placeOfASectionIsNeverThatOfAStore(_ name: String) {
        let ofStores = ["\(name)", "notes/\(name)", "notes@\(name)", "section/notes/\(name)", "notes\u{1F}\(name)"]
            .map { PlaceName(resource: "feed", $0) }
        let ofSections = ["notes", "notes/\(name)", "other"].map { PlaceName(resource: "feed", section: $0, name) }
        #expect(Set(ofStores + ofSections).count == ofStores.count + ofSections.count)
        for place in ofStores + ofSections { #expect(PlaceName(path: place.path[...]) == place) }
    }

    @Test(arguments: [
        "feed", "/feed", "feed/", "../x", "feed/..", "feed/.", ".places/lock", "feed/a/b", "feed/\u{0}", "fe ed/x",
        "feed/" + String(repeating: "x", count: 200),
    ])
    func forgedPathIsNoPlace(_ path: String) {
        #expect(PlaceName(path: path[...]) == nil)
    }

    @Test func hostileManifestMovesNothingOutsideTheCache() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            let outside = fixture.folder.url.appending(path: "outside")
            try FileManager.default.createDirectory(
                at: outside.appending(path: "entries"), withIntermediateDirectories: true)
            for (link, target) in [("linked", outside), ("feed/link", outside.appending(path: "entries"))] {
                try FileManager.default.createSymbolicLink(
                    at: fixture.cache.appending(path: link), withDestinationURL: target)
            }
            let lines = [
                "used ../outside/entries 0", "used \(outside.path) 0", "open x", "used linked/entries 0",
                "used feed/link 0", "open feed/entries \(String(repeating: "z", count: 16)) 5", "", "used feed/x 99e9",
                "used feed/far 9999999999", "used feed/torn 1",
            ]
            let path = fixture.cache.path + "/.places/manifest"
            let text = try Disk.read(path, limit: 1 << 20)
            try Disk.put(path, text + [0xFF, 10] + Array(lines.joined(separator: "\n").utf8.dropLast(2)))
            pantry = try await fixture.open()
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(error?.message.contains("cannot delete an unused place") == true)
            #expect(FileManager.default.fileExists(atPath: outside.appending(path: "entries").path))
            #expect(!fixture.isThere("feed/link") && fixture.isThere("linked"))
            #expect(try await fixture.isServed("bob", by: pantry))
            #expect(try await !fixture.isServed("alice", by: pantry))
        }
    }

    @Test func unusedPlaceIsDeletedAfterOneWeek() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            for name in ["feed", "images"] { try fixture.write(name, store: CacheFixture.file) }
            var pantry = try await fixture.open()
            for name in ["feed", "images"] { try await fixture.fill(pantry, name) }
            try fixture.delete("images")
            try await pantry.reload()
            try await world.sleep(for: Self.week - .seconds(2))
            try await pantry.reload()
            #expect(fixture.isThere("images/entries"))
            try await world.sleep(for: .seconds(3_601))
            try await pantry.reload()
            #expect(!fixture.isThere("images") && fixture.isThere("feed/entries"))
            // A place that a policy names stays, however long no process runs.
            pantry = try await Pantry(policies: fixture.policies, registry: fixture.registry, world: world)
            try await world.sleep(for: Self.week + Self.week)
            pantry = try await fixture.open()
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }

    @Test func weekBeginsWhenKilledProcessIsDetected() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            try fixture.delete("feed")
            // As after a kill: the manifest still lists the place as used.
            pantry = try await Pantry(
                policies: fixture.policies, registry: fixture.registry, cache: fixture.folder.url, world: world)
            try await world.sleep(for: Self.week + Self.week)
            for _ in 0..<6 {
                pantry = try await fixture.open()
                #expect(fixture.isThere("feed/entries"))
                try await world.sleep(for: .seconds(86_400))
            }
            try await world.sleep(for: .seconds(86_400))
            pantry = try await fixture.open()
            #expect(!fixture.isThere("feed"))
        }
    }

    @Test func placeThatAnotherPantryUsesStays() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            let theirs = try await fixture.open()
            try await fixture.fill(theirs)
            try fixture.delete("feed")
            try await world.sleep(for: Self.week + Self.week)
            let ours = try await fixture.open()
            #expect(ours.resources == ["other"])
            #expect(try await fixture.isServed("bob", by: theirs))
        }
    }

    @Test func deletedFolderIsMadeAndListedAgain() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            let pantry = try await fixture.open()
            try await fixture.fill(pantry)
            try FileManager.default.removeItem(at: fixture.cache)
            _ = try await pantry.resource("feed").load(["id": "2"], scope: "alice")
            #expect(!fixture.traces.isEmpty)
            try fixture.delete("feed")
            let second = try await fixture.open()
            try await second.clear(.scope("alice"))
            // The first pantry still uses the place.
            #expect(fixture.clearings.count == 1)
            try await pantry.reload()
            #expect(fixture.traces == [] && fixture.clearings == [])
        }
    }

    @Test func tenThousandPlacesUseFewFileDescriptors() throws {
        let folder = try Folder()
        let world = SystemWorld()
        let places = Places(in: folder.path, isStrict: true, world: world)
        func descriptors() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
        let before = descriptors()
        let taken = try (0..<10_000).map { try places.take(PlaceName(resource: "r\($0)", "entries")).place }
        #expect(descriptors() - before < 50)
        let count = try places.locked { $0.listings.count }
        #expect(count == 10_000)
        withExtendedLifetime(taken) {}
    }

    @Test func manifestIsCompactedAfterManyChanges() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            let pantry = try await fixture.open()
            for _ in 0..<600 {
                try fixture.write("feed", store: CacheFixture.file)
                try await pantry.reload()
                try fixture.delete("feed")
                try await pantry.reload()
            }
            #expect((Disk.item(fixture.cache.path + "/.places/manifest")?.size ?? .max) < 100_000)
        }
    }

    @Test func filesAndFoldersAreAccessibleToOwnerOnly() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            let pantry = try await fixture.open()
            #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
            for name in [".places", "feed", "feed/entries"]
                + fixture.folder.names(below: "cache/.places").map({ ".places/" + $0 })
            {
                let attributes = try FileManager.default.attributesOfItem(atPath: fixture.cache.path + "/" + name)
                let isFolder = !name.hasPrefix(".places/") || name == ".places/cleared"
                #expect(
                    attributes[.posixPermissions].map { "\($0)" } == (isFolder ? "\(0o700)" : "\(0o600)"), "\(name)")
            }
        }
    }

    @Test func deepFoldersWithLinksAreDeletedWhole() throws {
        let folder = try Folder()
        var deep = folder.path + "/x"
        for _ in 0..<300 {
            try Disk.makeFolder(deep)
            try Disk.put(deep + "/file", [1])
            deep += "/d"
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/x/up", withDestinationPath: folder.path)
        try Disk.put(folder.path + "/kept", [1])
        try Disk.removeTree(folder.path + "/x")
        #expect(folder.names(below: "") == ["kept"])
        try Disk.removeTree(folder.path + "/x")
    }
}
