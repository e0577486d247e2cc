import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A clearing reaches everything that was ever kept below the cache folder.
@Suite struct ClearingTests {
    /// A change of the policy between the load and the clearing. It is undone afterwards.
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case policyIsDeleted, tierIsTakenOut, fileIsSwappedForMemory, folderIsRenamed

        var testDescription: String { rawValue }

        var before: String { self == .tierIsTakenOut ? CacheFixture.tiered : CacheFixture.file }

        func make(in fixture: CacheFixture) throws {
            switch self {
            case .policyIsDeleted: try fixture.delete("feed")
            case .tierIsTakenOut, .fileIsSwappedForMemory: try fixture.write("feed", store: CacheFixture.memory)
            case .folderIsRenamed: try fixture.write("feed", store: #"{ "use": "file", "directory": "new" }"#)
            }
        }
    }

    @Test(arguments: Change.allCases, [false, true])
    func clearingReachesPlacesThatNoPolicyNames(_ change: Change, restarted: Bool) throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: change.before)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            #expect(!fixture.traces.isEmpty)
            try change.make(in: fixture)
            if restarted { pantry = try await fixture.open() } else { try await pantry.reload() }
            // The former pantry closes its stores in the background.
            try await world.settle()
            try await pantry.clear(.scope("alice"))
            #expect(fixture.traces == [] && !fixture.isThere("feed/entries"))
            try fixture.write("feed", store: change.before)
            try await pantry.reload()
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(fixture.clearings == [])
        }
    }

    @Test func clearingOneAccountKeepsCopiesOfOthersInNamedPlaces() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            for name in ["feed", "images"] { try fixture.write(name, store: CacheFixture.file) }
            let pantry = try await fixture.open()
            for name in ["feed", "images"] { try await fixture.fill(pantry, name) }
            try fixture.delete("images")
            try await pantry.reload()
            try await pantry.clear(.scope("alice"))
            #expect(try await fixture.isServed("bob", by: pantry))
            #expect(!fixture.isThere("images") && fixture.traces == [])
        }
    }

    @Test func clearingResourceWithDeletedPolicyDeletesItsPlaces() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            for name in ["feed", "images"] { try fixture.write(name, store: CacheFixture.file) }
            let pantry = try await fixture.open()
            for name in ["feed", "images"] { try await fixture.fill(pantry, name) }
            for name in ["feed", "images"] { try fixture.delete(name) }
            try await pantry.reload()
            let error = await #expect(throws: LoadError.self) {
                try await pantry.resource("feed").clear(.scope("alice"))
            }
            #expect(error?.code == .noSuchResource)
            #expect(!fixture.isThere("feed") && fixture.isThere("images/entries"))
        }
    }

    @Test(arguments: [Selection.all, .scope(nil), .scope("a b\n%"), .tag("x/y"), .key(.id("7 & 8\n", scope: "é"))])
    func recordedClearingReadsBackUnchanged(_ selection: Selection) throws {
        let discarding = Clearing(selection, discardingUnsent: true, resource: "feed")
        #expect(discarding.discardsUnsent && Clearing(id: discarding.id, bytes: discarding.bytes) == discarding)
        let damagedDiscard = Clearing(id: "x", bytes: Array(discarding.bytes.dropLast(3)))
        #expect(damagedDiscard.selection == .all && !damagedDiscard.discardsUnsent)
        var clearing = Clearing(selection, resource: "feed")
        #expect(Clearing(id: clearing.id, bytes: clearing.bytes) == clearing)
        clearing.places = [PlaceName(resource: "feed", "entries"), PlaceName(resource: "feed", "../x")]
        #expect(Clearing(id: clearing.id, bytes: clearing.bytes) == clearing)
        clearing.places = []
        clearing.folder = nil
        #expect(
            Clearing(id: clearing.id, bytes: clearing.bytes + Array(repeating: UInt8(ascii: "\n"), count: 9))
                == clearing)
        // A damaged file selects everything.
        let damaged = Clearing(id: "x", bytes: Array(clearing.bytes.dropLast(3)))
        #expect(damaged.selection == .all && damaged.concerns(PlaceName(resource: "any", "thing")))
    }

    // MARK: UnfinishedOperation

    @Test func nextStartFinishesRecordedClearing() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            for name in ["feed", "images"] { try fixture.write(name, store: CacheFixture.file) }
            func begin() async throws {
                let pantry = try await fixture.open()
                for name in ["feed", "images"] { try await fixture.fill(pantry, name) }
                #expect(try pantry.composer.places.begin(Clearing(.scope("alice"))))
            }
            try await begin()
            try fixture.delete("images")
            let pantry = try await fixture.open()
            #expect(fixture.traces == [] && fixture.clearings == [] && !fixture.isThere("images"))
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }

    @Test func clearingIsRecordedAfterManifestWasDeleted() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(isForeign: true, world: world)
            let fixture = try CacheFixture(world, plugins: [store.plugin(keepingIn: "in")])
            try fixture.write("feed", store: #"{ "use": "faulty", "in": "file" }"#)
            let pantry = try await fixture.open()
            try await fixture.fill(pantry)
            try FileManager.default.removeItem(at: fixture.cache.appending(path: ".places"))
            store.set(.fails, for: .remove)
            await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(fixture.clearings.count == 1)
        }
    }

    @Test(arguments: [Int64.min, -1, .max]) func impossibleTimeInManifestIsIgnored(_ time: Int64) throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            let manifest = fixture.cache.appending(path: ".places/manifest")
            let line = "used feed/other \(time)\nopen feed/x 0123456789abcdef \(time)\n"
            try (try Data(contentsOf: manifest) + Data(line.utf8)).write(to: manifest)
            pantry = try await fixture.open()
            #expect(try await fixture.isServed("bob", by: pantry))
        }
    }

    @Test func storeAnswersNothingUntilFailedClearingIsFinished() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(isForeign: true, world: world)
            let fixture = try CacheFixture(world, plugins: [store.plugin(keepingIn: "in")])
            try fixture.write("feed", store: #"{ "use": "faulty", "in": "file" }"#)
            var pantry = try await fixture.open()
            try await fixture.fill(pantry)
            store.set(.fails, for: .remove)
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(
                error?.message == "not cleared: feed (faulty: told to fail); these copies are not shown"
                    && error?.store is StoreError)
            #expect(fixture.clearings.count == 1)

            pantry = try await fixture.open()
            #expect(fixture.clearings.count == 1)
            let failure = await #expect(throws: LoadError.self) {
                _ = try await pantry.resource("feed").load(scope: "bob", mode: .cachedOnly)
            }
            #expect(failure?.code == .notCached && failure?.store is StoreError)
            #expect(try await pantry.resource("feed").load(scope: "bob").source == .origin)
            #expect(pantry.resource("feed").metrics.storeFaults.isEmpty == false)

            store.set(nil, for: .remove)
            let tries = store.count(of: .remove)
            #expect(try await !fixture.isServed("bob", by: pantry) && store.count(of: .remove) == tries, "a moment ago")
            try await world.sleep(for: .seconds(1))
            #expect(try await fixture.isServed("bob", by: pantry))
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(fixture.traces == [] && fixture.clearings == [])
        }
    }

    @Test func concurrentReadsWaitForOneRemoval() throws {
        try SimulatedWorld().run { world in
            let store = FaultyStore(isForeign: false, world: world)
            let gate = GatedStore(store, after: [Clearing(.scope("alice"))], world: world) { _ in }
            store.put(Entry(text: "one"), for: .id("1"))
            store.set(.takes(.seconds(2)), for: .remove)
            #expect(gate.peek(.id("1")) { _ in true } == nil)
            let reads = (0..<10).map { _ in world.start { try await gate.read(.id("1")) != nil } }
            for read in reads { _ = try await read.value() }
            #expect(store.count(of: .remove) == 1 && world.uptime == .seconds(2))
            #expect(gate.peek(.id("1")) { _ in true } != nil)
        }
    }

    @Test func onlyStoreWithUnfinishedClearingIsGated() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            let pantry = try await fixture.open()
            #expect(pantry.graphs.allSatisfy { !($0.storeAccess.store is GatedStore) })
            #expect(try pantry.composer.places.begin(Clearing(.all)))
            let second = try await fixture.open()
            #expect(second.graphs.filter { $0.storeAccess.store is GatedStore }.map(\.policy.resource) == ["feed"])
        }
    }

    @Test func clearingMemoryOnlyPantryWritesNoFiles() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            let pantry = try await fixture.open()
            try await pantry.clear()
            try await pantry.resource("other").clear(.scope("alice"))
            #expect(!FileManager.default.fileExists(atPath: fixture.cache.path))
        }
    }

    // MARK: Other pantries

    @Test func placeInUseByAnotherPantryIsClearedThere() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.file)
            let theirs = try await fixture.open()
            try await fixture.fill(theirs)
            try fixture.write("feed", store: CacheFixture.memory)
            let ours = try await fixture.open()
            try await ours.clear(.scope("alice"))
            #expect(try await fixture.isServed("bob", by: theirs))
            #expect(fixture.clearings.count == 1 && !fixture.traces.isEmpty)
            // The other pantry reloads and keeps the same store.
            try fixture.write("feed", store: CacheFixture.file)
            try await theirs.reload()
            #expect(fixture.traces == [] && fixture.clearings == [])
            #expect(try await fixture.isServed("bob", by: theirs))
        }
    }

    @Test func clearingThatCannotBeRecordedIsCarriedOutAndThrows() throws {
        try SimulatedWorld().run { world in
            let fixture = try CacheFixture(world)
            try fixture.write("feed", store: CacheFixture.tiered)
            let pantry = try await fixture.open()
            try await fixture.fill(pantry)
            // A folder replaces the lock file.
            try FileManager.default.removeItem(at: fixture.cache.appending(path: ".places/lock"))
            try FileManager.default.createDirectory(
                at: fixture.cache.appending(path: ".places/lock"), withIntermediateDirectories: false)
            let error = await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            #expect(error?.message == "cannot record the clearing: cannot open the file: Is a directory")
            #expect(try await !fixture.isServed("alice", by: pantry))
            #expect(fixture.traces == [])
        }
    }
}
