import FoundationEssentials
import LarderSimulation
import Testing

@testable import Larder

/// A cache folder that cannot be used: a file lies where it should be, which stops root too.
@Suite struct UnusableCacheTests {
    private func cellar(_ world: SimulatedWorld, store: String, plugins: [Plugin] = []) throws -> Cellar {
        let cellar = try Cellar(world, plugins: plugins)
        try cellar.write("feed", store: store)
        try cellar.folder.write("in the way", to: "cache")
        return cellar
    }

    @Test func tierInMemoryGoesOnWhenTheFolderCannotBeUsed() throws {
        try SimulatedWorld().run { world in
            let cellar = try cellar(world, store: Cellar.tiered)
            let pantry = try await cellar.open()
            #expect(try await pantry.resource("feed").load(scope: "bob").source == .origin)
            #expect(try await pantry.resource("feed").load(scope: "bob").source == .store("memory"))
            try await pantry.clear(scope: "bob")
            #expect(try await !cellar.isServed("bob", by: pantry))
        }
    }

    @Test func problemIsToldOnceToEverybody() throws {
        try SimulatedWorld().run { world in
            let cellar = try cellar(world, store: Cellar.file)
            let pantry = try await cellar.open()
            #expect(
                pantry.cacheProblems.map(\.description) == [
                    "feed: the store 'file' keeps nothing: the store's folder cannot be used: "
                        + "cannot make a folder: Not a directory"
                ])
            var events = pantry.events.makeAsyncIterator()
            guard case .cacheUnusable(let problem) = await events.next() else {
                Issue.record("the problem is not told")
                return
            }
            #expect(problem.resource == "feed" && problem.part == "file")
            #expect(try await pantry.resource("feed").load().isStored == false)

            var decisions = pantry.decisions.makeAsyncIterator()
            try cellar.folder.edit("policies/feed.json", "30d", "31d")
            try await pantry.reload()
            #expect(pantry.cacheProblems.count == 1)
            // The next that is told is the swap: the problem is no news.
            #expect(await decisions.next()?.kind == .policy)
        }
    }

    @Test func pantryFailsWhereTheAppWantsIt() throws {
        try SimulatedWorld().run { world in
            let cellar = try cellar(world, store: Cellar.tiered)
            let error = await #expect(throws: PolicyError.self) { _ = try await cellar.open(ifCacheUnusable: .fail) }
            #expect(
                error?.description.hasSuffix(
                    "feed.json: error: cannot be composed: the store's folder cannot be used: "
                        + "cannot make a folder: Not a directory") == true)
        }
    }

    @Test func storeWorksAgainWhenAReloadFindsItsFolder() throws {
        try SimulatedWorld().run { world in
            let cellar = try cellar(world, store: Cellar.file)
            let pantry = try await cellar.open()
            var decisions = pantry.decisions.makeAsyncIterator()
            try FileManager.default.removeItem(at: cellar.folder.url.appending(path: "cache"))
            try await pantry.reload()
            #expect(pantry.cacheProblems.isEmpty)
            #expect(await decisions.next()?.note == "feed: the store 'file' works again")
            #expect(try await pantry.resource("feed").load().isStored)
        }
    }

    @Test func storeThatFailsInItsPlaceIsReplacedToo() throws {
        struct Broken: Error {}
        try SimulatedWorld().run { world in
            let plugin = Plugin.store("broken", "Cannot be opened.") { context in
                _ = try context.place("data")
                throw Broken()
            }
            let other = Plugin.store("wrong", "Fails before it asks for a place.") { _ in throw Broken() }
            let cellar = try Cellar(world, plugins: [plugin, other])
            try cellar.write("feed", store: #""broken""#)
            let pantry = try await cellar.open()
            #expect(pantry.cacheProblems.map(\.reason) == ["Broken"])
            try cellar.write("feed", store: #""wrong""#)
            await #expect(throws: PolicyError.self) { try await pantry.reload() }
        }
    }

    @Test func clearingFitsIntoTheReservedFile() throws {
        try SimulatedWorld().run { world in
            let cellar = try Cellar(world)
            try cellar.write("feed", store: Cellar.file)
            var pantry = try await cellar.open()
            try await cellar.fill(pantry)
            let reserved = cellar.cache.path + "/.places/spare"
            #expect(Disk.item(reserved)?.size == Places.spareSize)
            let clearing = Clearing(.scope("alice"))
            try Disk.use(reserved: reserved, as: cellar.cache.path + "/.places/" + clearing.id, for: clearing.bytes)
            #expect(!Disk.isThere(reserved))
            pantry = try await cellar.open()
            #expect(cellar.traces == [])
            #expect(try await cellar.isServed("bob", by: pantry))
        }
    }

    @Test func onlyStoresHavePlaces() throws {
        try SimulatedWorld().run { world in
            let plugin = Plugin.origin("greedy", "Wants a folder.") { context in
                _ = try context.place("data")
                return Nothing()
            }
            let cellar = try Cellar(world, plugins: [plugin])
            try cellar.folder.edit("policies/other.json", "scripted", "greedy")
            let error = await #expect(throws: PolicyError.self) { _ = try await cellar.open() }
            #expect(error?.description.contains("only a store has a place in the cache folder") == true)
        }
    }
}
