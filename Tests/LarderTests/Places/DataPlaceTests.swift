import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct DataPlaceTests {
    private func context(_ resource: String, data: String?, cache: String = "/nowhere") -> StoreContext {
        StoreContext(resource: resource, world: SimulatedWorld(), cacheDirectory: cache, dataDirectory: data)
    }

    @Test func placeIsMadeWhenAskedForAndForItsOwnerOnly() throws {
        let folder = try Folder()
        let context = context("feed", data: folder.path + "/data")
        #expect(!Disk.isThere(folder.path + "/data"))
        let place = try context.dataPlace("unsent")
        #expect(place.path == folder.path + "/data/feed/unsent")
        for path in ["/data", "/data/feed", "/data/feed/unsent"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.path + path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        try FileManager.default.removeItem(atPath: folder.path + "/data")
        try place.restore()
        #expect(Disk.isThere(place.path))
    }

    @Test func placesOfTwoResourcesAndNamesAreApart() throws {
        let folder = try Folder()
        let paths = try ["feed", "images"].flatMap { resource in
            try ["unsent", "drafts"].map { try context(resource, data: folder.path).dataPlace($0).path }
        }
        #expect(Set(paths).count == 4)
        // The same name gives the same folder, with its files.
        try folder.write("text", to: "feed/unsent/1")
        let again = try context("feed", data: folder.path).dataPlace("unsent")
        #expect(try String(contentsOf: URL(filePath: again.path + "/1"), encoding: .utf8) == "text")
    }

    @Test func sharedPlaceIsTheSameForAllResourcesAndNoneOfTheirs() throws {
        let folder = try Folder()
        let shared = try ["feed", "images", ""].map { try context($0, data: folder.path).sharedDataPlace("sync").path }
        #expect(Set(shared) == [folder.path + "/_larder/sync"])
        let others = try [("feed", "sync"), ("sync", "sync"), ("larder", "sync"), ("_larder", "@sync")].map {
            try context($0, data: folder.path).dataPlace($1).path
        }
        let other = try context("feed", data: folder.path).sharedDataPlace("other").path
        #expect(Set(others + [other] + shared).count == 6)
        #expect(throws: StoreError.self) { try context("feed", data: folder.path).sharedDataPlace("") }
        #expect(throws: StoreError.self) { try context("feed", data: nil).sharedDataPlace("sync") }
    }

    @Test(arguments: ["..", "../../x", "/etc", ".", "a/b", "é\u{0}\n", "...", String(repeating: "x", count: 10_000)])
    func hostileNameStaysBelowFolder(_ name: String) throws {
        let folder = try Folder()
        let data = try #require(Disk.realPath(folder.path))
        for place in [
            try context("feed", data: data).dataPlace(name), try context(name, data: data).dataPlace("x"),
            try context("feed", data: data).sharedDataPlace(name),
        ] {
            let real = try #require(Disk.realPath(place.path))
            #expect(real == place.path && real.hasPrefix(data + "/"))
            #expect(real.dropFirst(data.count + 1).split(separator: "/").count == 2)
        }
    }

    @Test func unusableFolderGivesClearErrorWithoutPath() throws {
        let folder = try Folder()
        try folder.write("in the way", to: "data")
        func message(_ data: String?, cache: String = "/nowhere", _ name: String = "unsent") -> String? {
            let error = #expect(throws: StoreError.self) {
                try context("feed", data: data, cache: cache).dataPlace(name)
            }
            return error?.message
        }
        let start = "the data folder cannot be used: "
        #expect(message(folder.path + "/data") == start + "cannot make a folder: Not a directory")
        #expect(message(nil) == "no data folder is known; pass `data:` to Pantry")
        #expect(message(folder.path + "/cache", cache: folder.path + "/cache") == start + "it is in the cache folder")
        #expect(message(folder.path + "/c/data", cache: folder.path + "/c") == start + "it is in the cache folder")
        #expect(message(folder.path, "") == "a place needs a name")
        #expect(!Disk.isThere(folder.path + "/cache") && !Disk.isThere(folder.path + "/c"))
    }

    /// A store that keeps a file with the user's data.
    private func diary(_ path: Locked<String?>) -> Plugin {
        .store("diary", "Keeps a file of the user's.") { context in
            let place = try context.dataPlace("diary")
            path.withLock { $0 = place.path }
            return EmptyStore()
        }
    }

    private static let policy = [
        "feed": #"{ "resource": "feed", "origin": "scripted", "strategy": "cache-first", "store": "diary" }"#
    ]

    @Test func clearingAndNewPoliciesLeaveDataAlone() throws {
        try SimulatedWorld().run { world in
            let path = Locked<String?>(nil)
            let simulated = try await SimulatedPantry(Self.policy, in: world, plugins: [diary(path)])
            let file = try #require(path.withLock { $0 }) + "/entry"
            #expect(file.hasPrefix(simulated.data.path + "/feed/diary"))
            try Data("text".utf8).write(to: URL(filePath: file))
            try await simulated.pantry.clear()
            try await simulated.resource.clear()
            try await simulated.pantry.replace(policies: [
                "feed": #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only" }"#
            ])
            try await world.sleep(for: .seconds(30 * 86_400))
            try await simulated.pantry.reload()
            try await simulated.pantry.clear()
            #expect(Disk.isThere(file))
        }
    }

    @Test func unusableDataFolderKeepsPolicyFromBeingComposed() throws {
        try SimulatedWorld().run { world in
            let data = try TemporaryFolder()
            try data.write("in the way", to: "feed")
            let error = await #expect(throws: PolicyError.self) {
                _ = try await SimulatedPantry(Self.policy, in: world, plugins: [diary(Locked(nil))], data: data)
            }
            #expect(
                error?.description.contains(
                    "feed.json: error: cannot be composed: the data folder cannot be used: cannot make a folder")
                    == true)
            #expect(error?.description.contains(data.path) == false)
        }
    }

    @Test func defaultFolderIsBelowUsersDataFolder() async throws {
        let user = try #require(
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?.path)
        let pantry = try await Pantry(
            policies: [
                "feed":
                    #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#
            ], cache: TemporaryFolder().url)
        let program = PlaceName.folder(of: ProcessInfo.processInfo.processName)
        #expect(pantry.composer.data.path == user + "/larder/" + program)
    }
}
