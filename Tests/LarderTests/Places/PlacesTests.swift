import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

/// Which places there are, who uses them and when they go.
@Suite struct PlacesTests {
    private static let week = Duration.seconds(7 * 86_400)

    @Test(arguments: [
        ("feed", "entries", "feed/entries"), ("a/b", "../x", "a%2fb/%2e%2e%2fx"), ("..", ".", "%2e%2e/%2e"),
        ("\u{c}3", "x.sqlite", "%0c3/x.sqlite"), (".places", "manifest", "%2eplaces/manifest"),
    ])
    func namesLeadNowhereElse(resource: String, name: String, path: String) {
        #expect(PlaceName(resource: resource, name).path == path)
        #expect(PlaceName(path: path[...]) == PlaceName(resource: resource, name))
    }

    @Test(arguments: [
        "feed", "/feed", "feed/", "../x", "feed/..", "feed/.", ".places/lock", "feed/a/b", "feed/\u{0}", "fe ed/x",
        "feed/" + String(repeating: "x", count: 200),
    ])
    func forgedNamesAreNone(_ path: String) {
        #expect(PlaceName(path: path[...]) == nil)
    }

    @Test func hostileManifestMovesNothingOutsideTheCache() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            var pantry = try await cellar.open()
            try await cellar.fill(pantry)
            let outside = cellar.folder.url.appending(path: "outside")
            try FileManager.default.createDirectory(
                at: outside.appending(path: "entries"), withIntermediateDirectories: true)
            for (link, target) in [("linked", outside), ("feed/link", outside.appending(path: "entries"))] {
                try FileManager.default.createSymbolicLink(
                    at: cellar.cache.appending(path: link), withDestinationURL: target)
            }
            let lines = [
                "used ../outside/entries 0", "used \(outside.path) 0", "open x", "used linked/entries 0",
                "used feed/link 0", "open feed/entries \(String(repeating: "z", count: 16)) 5", "", "used feed/x 99e9",
                "used feed/far 9999999999", "used feed/torn 1",
            ]
            let path = cellar.cache.path + "/.places/manifest"
            let text = try Disk.read(path, limit: 1 << 20)
            try Disk.put(path, text + [0xFF, 10] + Array(lines.joined(separator: "\n").utf8.dropLast(2)))
            pantry = try await cellar.open()
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(scope: "alice") }
            #expect(error?.message.contains("a place that is not used cannot be deleted") == true)
            #expect(FileManager.default.fileExists(atPath: outside.appending(path: "entries").path))
            #expect(!cellar.isThere("feed/link") && cellar.isThere("linked"))
            #expect(try await cellar.isServed("bob", by: pantry))
            #expect(try await !cellar.isServed("alice", by: pantry))
        }
    }

    @Test func placeThatNobodyUsesGoesAfterAWeek() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            for name in ["feed", "images"] { try cellar.write(name, store: Cellar.file) }
            var pantry = try await cellar.open()
            for name in ["feed", "images"] { try await cellar.fill(pantry, name) }
            try cellar.delete("images")
            try await pantry.reload()
            try await world.sleep(for: Self.week - .seconds(2))
            try await pantry.reload()
            #expect(cellar.isThere("images/entries"))
            try await world.sleep(for: .seconds(3_601))
            try await pantry.reload()
            #expect(!cellar.isThere("images") && cellar.isThere("feed/entries"))
            // One that a policy names stays, however long nothing runs.
            pantry = try await Pantry(policies: cellar.policies, registry: cellar.registry, world: world)
            try await world.sleep(for: Self.week + Self.week)
            pantry = try await cellar.open()
            #expect(try await cellar.isServed("bob", by: pantry))
        }
    }

    @Test func weekBeginsWhenItIsNoticedThatAProcessWasKilled() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            var pantry = try await cellar.open()
            try await cellar.fill(pantry)
            try cellar.delete("feed")
            // As after a kill: nobody has written down that the place is not used any more.
            pantry = try await Pantry(
                policies: cellar.policies, registry: cellar.registry, cache: cellar.folder.url, world: world)
            try await world.sleep(for: Self.week + Self.week)
            for _ in 0..<6 {
                pantry = try await cellar.open()
                #expect(cellar.isThere("feed/entries"))
                try await world.sleep(for: .seconds(86_400))
            }
            try await world.sleep(for: .seconds(86_400))
            pantry = try await cellar.open()
            #expect(!cellar.isThere("feed"))
        }
    }

    @Test func placeThatAnotherPantryUsesStays() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            let theirs = try await cellar.open()
            try await cellar.fill(theirs)
            try cellar.delete("feed")
            try await world.sleep(for: Self.week + Self.week)
            let ours = try await cellar.open()
            #expect(ours.resources == ["other"])
            #expect(try await cellar.isServed("bob", by: theirs))
        }
    }

    @Test func foldersThatAreClearedAwayAreListedAgain() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            let pantry = try await cellar.open()
            try await cellar.fill(pantry)
            try FileManager.default.removeItem(at: cellar.cache)
            _ = try await pantry.resource("feed").load(["id": "2"], scope: "alice")
            #expect(!cellar.traces.isEmpty)
            try cellar.delete("feed")
            let second = try await cellar.open()
            try await second.clear(scope: "alice")
            // The first one still uses it.
            #expect(cellar.clearings.count == 1)
            try await pantry.reload()
            #expect(cellar.traces == [] && cellar.clearings == [])
        }
    }

    @Test func tenThousandPlacesNeedFewDescriptors() throws {
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

    @Test func manifestIsShortAgainAfterManyChanges() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            let pantry = try await cellar.open()
            for _ in 0..<600 {
                try cellar.write("feed", store: Cellar.file)
                try await pantry.reload()
                try cellar.delete("feed")
                try await pantry.reload()
            }
            #expect((Disk.item(cellar.cache.path + "/.places/manifest")?.size ?? .max) < 100_000)
        }
    }

    @Test func filesAreTheOwnersAlone() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            let pantry = try await cellar.open()
            #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
            for name in [".places", "feed", "feed/entries"]
                + cellar.folder.names(below: "cache/.places").map({ ".places/" + $0 })
            {
                let attributes = try FileManager.default.attributesOfItem(atPath: cellar.cache.path + "/" + name)
                let isFolder = !name.hasPrefix(".places/")
                #expect(
                    attributes[.posixPermissions].map { "\($0)" } == (isFolder ? "\(0o700)" : "\(0o600)"), "\(name)")
            }
        }
    }

    @Test func deepAndOddFoldersAreDeletedWhole() throws {
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
