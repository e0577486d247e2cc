import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A cache folder that cannot be used because a file has its name. This stops root too.
@Suite struct UnusableCacheTests {
    private func fixture(_ world: SimulatedWorld, store: String, plugins: [Plugin] = []) throws -> CacheFixture {
        let fixture = try CacheFixture(world, plugins: plugins)
        try fixture.write("feed", store: store)
        try fixture.folder.write("in the way", to: "cache")
        return fixture
    }

    @Test func memoryTierWorksWhenFolderCannotBeUsed() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world, store: CacheFixture.tiered)
            let pantry = try await fixture.open()
            #expect(try await pantry.resource("feed").load(scope: "bob").source == .origin)
            #expect(try await pantry.resource("feed").load(scope: "bob").source == .store("memory"))
            try await pantry.clear(.scope("bob"))
            #expect(try await !fixture.isServed("bob", by: pantry))
        }
    }

    @Test func unusableCacheIsReportedOnce() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world, store: CacheFixture.file)
            let pantry = try await fixture.open()
            #expect(
                pantry.cacheProblems.map(\.description) == [
                    "feed: the store 'file' keeps nothing: the store's folder cannot be used: "
                        + "cannot make a folder: Not a directory"
                ])
            var events = pantry.events.makeAsyncIterator()
            guard case .cacheUnusable(let problem) = await events.next() else {
                Issue.record("the problem is not reported")
                return
            }
            #expect(problem.resource == "feed" && problem.part == "file")
            #expect(try await pantry.resource("feed").load().isStored == false)

            var decisions = pantry.decisions.makeAsyncIterator()
            try fixture.folder.edit("policies/feed.json", "30d", "31d")
            try await pantry.reload()
            #expect(pantry.cacheProblems.count == 1)
            // The next decision is the swap: the same problem is not reported again.
            #expect(await decisions.next()?.kind == .policy)
        }
    }

    @Test func unusableCacheFailsPantryIfAppChoosesSo() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world, store: CacheFixture.tiered)
            let error = await #expect(throws: PolicyError.self) { _ = try await fixture.open(ifCacheUnusable: .fail) }
            #expect(
                error?.description.hasSuffix(
                    "feed.json: error: cannot be composed: the store's folder in \(fixture.folder.path)/cache cannot be used: "
                        + "cannot make a folder: Not a directory") == true)
        }
    }

    @Test func reloadRestoresStoreWhoseFolderIsUsableAgain() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world, store: CacheFixture.file)
            let pantry = try await fixture.open()
            var decisions = pantry.decisions.makeAsyncIterator()
            try FileManager.default.removeItem(at: fixture.folder.url.appending(path: "cache"))
            try await pantry.reload()
            #expect(pantry.cacheProblems.isEmpty)
            #expect(await decisions.next()?.note == "feed: the store 'file' works again")
            #expect(try await pantry.resource("feed").load().isStored)
        }
    }

    @Test func storeThatFailsAfterTakingPlaceIsReplaced() throws {
        struct Broken: Error {}
        try SimulatedWorld().run { world in
            let plugin = Plugin.store("broken", "Cannot be opened.") { context in
                _ = try context.place("data")
                throw Broken()
            }
            let other = Plugin.store("wrong", "Fails before it asks for a place.") { _ in throw Broken() }
            let fixture = try CacheFixture(world, plugins: [plugin, other])
            try fixture.write("feed", store: #""broken""#)
            let pantry = try await fixture.open()
            #expect(pantry.cacheProblems.map(\.reason) == ["Broken"])
            try fixture.write("feed", store: #""wrong""#)
            await #expect(throws: PolicyError.self) { try await pantry.reload() }
        }
    }

    @Test func clearingFitsIntoTheReservedFile() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            let reserved = fixture.cache.path + "/.places/spare"
            #expect(Disk.item(reserved)?.size == Places.spareSize)
            let clearing = Clearing(.scope("alice"))
            try Disk.use(reserved: reserved, as: fixture.cache.path + "/.places/" + clearing.id, for: clearing.bytes)
            #expect(!Disk.isThere(reserved))
            pantry = try await fixture.open()
            #expect(fixture.traces == [])
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }
}
