import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderSystem

/// Sections whose attachments keep files in places of their own.
@Suite struct SectionPlaceTests {
    /// Keeps a note for each account in a file.
    private struct Notes: LarderCore.Attachment {
        let place: StorePlace
        let context: Context
        let isDeaf: Bool
        let calls: Locked<Int>
        /// Whether each clearing discarded what was not sent.
        let discards: Locked<[Bool]>

        func file(_ scope: String) -> URL { URL(filePath: place.path + "/" + scope) }

        func write(_ scope: String) throws { try Data("note".utf8).write(to: file(scope)) }

        func cleared(_ selection: Selection, discardingUnsent: Bool) async {
            calls.withLock { $0 += 1 }
            discards.withLock { $0.append(discardingUnsent) }
            if isDeaf { try? await context.world.sleep(for: .seconds(3_600)) }
            guard case .scope(let scope?) = selection else { return }
            try? FileManager.default.removeItem(at: file(scope))
        }
    }

    private static func notes(
        isDeaf: Bool = false, calls: Locked<Int> = Locked(0), discards: Locked<[Bool]> = Locked([])
    ) -> Plugin {
        .section("notes", "Keeps notes.") { context in
            // A store's place of this name is another one.
            Notes(
                place: try context.place("entries"), context: context, isDeaf: isDeaf, calls: calls, discards: discards)
        }
    }

    private func fixture(
        _ world: SimulatedWorld, isDeaf: Bool = false, calls: Locked<Int> = Locked(0)
    ) throws -> CacheFixture {
        let fixture = try CacheFixture(world, plugins: [Self.notes(isDeaf: isDeaf, calls: calls)])
        try fixture.write("feed", store: CacheFixture.file)
        try fixture.folder.edit("policies/feed.json", #""resource""#, #""notes": {}, "resource""#)
        return fixture
    }

    @Test func placeOfSectionIsNotThatOfTheStore() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world)
            let pantry = try await fixture.open()
            try await fixture.fill(pantry)
            try pantry.attachment(Notes.self, of: "feed")?.write("alice")
            #expect(fixture.isThere("feed/entries") && fixture.isThere("feed/notes@entries/alice"))
            try pantry.attachment(Notes.self, of: "feed")?.write("bob")
            try await pantry.clear(.scope("alice"))
            #expect(!fixture.isThere("feed/notes@entries/alice") && fixture.isThere("feed/notes@entries/bob"))
            #expect(fixture.clearings == [])
        }
    }

    /// Clears an account in a pantry whose section does not finish, and leaves the pantry.
    private static func clearInVain(_ fixture: CacheFixture, discardingUnsent: Bool = false) async throws {
        let pantry = try await fixture.open()
        try pantry.attachment(Notes.self, of: "feed")?.write("alice")
        await #expect(throws: LoadError.self) {
            try await pantry.clear(.scope("alice"), discardingUnsent: discardingUnsent)
        }
    }

    @Test(arguments: [true, false]) func clearingOfTheNextStartDiscardsWhatIsNotSentAsTheAppWanted(_ isWanted: Bool)
        throws
    {
        try SimulatedWorld().run { world in
            let discards = Locked<[Bool]>([])
            var fixture = try fixture(world, isDeaf: true)
            try await Self.clearInVain(fixture, discardingUnsent: isWanted)
            fixture.registry = try fixture.registry.replacing(Self.notes(discards: discards))
            let pantry = try await fixture.open()
            #expect(discards.withLock { $0 } == [isWanted] && fixture.clearings == [])
            try await pantry.resource("feed").clear(.scope("alice"), discardingUnsent: !isWanted)
            #expect(discards.withLock { $0 } == [isWanted, !isWanted])
            try await world.sleep(for: .seconds(3_600))
        }
    }

    @Test func clearingThatASectionDidNotFinishIsFinishedAtTheNextStart() throws {
        try SimulatedWorld().run { world in
            var fixture = try fixture(world, isDeaf: true)
            try await Self.clearInVain(fixture)
            #expect(fixture.isThere("feed/notes@entries/alice") && fixture.clearings.count == 1)
            fixture.registry = try fixture.registry.replacing(Self.notes())
            _ = try await fixture.open()
            #expect(!fixture.isThere("feed/notes@entries/alice") && fixture.clearings == [])
            try await world.sleep(for: .seconds(3_600))
        }
    }

    @Test func sectionThatClearsLateIsToldOnce() throws {
        let calls = Locked(0)
        try SimulatedWorld().run { world in
            let fixture = try fixture(world, isDeaf: true, calls: calls)
            let pantry = try await fixture.open()
            let notes = try #require(pantry.attachment(Notes.self, of: "feed"))
            try notes.write("alice")
            await #expect(throws: LoadError.self) { try await pantry.clear(.scope("alice")) }
            // A reload waits for the same call.
            try await pantry.reload()
            #expect(world.uptime == .seconds(20) && calls.withLock { $0 } == 1 && fixture.clearings.count == 1)
            try await world.sleep(for: .seconds(3_600))
            try await world.settle()
            #expect(!fixture.isThere("feed/notes@entries/alice") && fixture.clearings == [])
            try notes.write("alice")
            try await pantry.reload()
            _ = try await fixture.open()
            #expect(calls.withLock { $0 } == 1 && fixture.isThere("feed/notes@entries/alice"))
        }
    }

    @Test func placeOfARemovedSectionIsDeletedByAClearing() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world)
            let pantry = try await fixture.open()
            try pantry.attachment(Notes.self, of: "feed")?.write("alice")
            try fixture.write("feed", store: CacheFixture.memory)
            try await pantry.reload()
            try await pantry.clear(.scope("alice"))
            #expect(!fixture.isThere("feed/notes@entries"))
        }
    }

    @Test func sectionIsLeftOutUntilItsFolderCanBeUsed() throws {
        try SimulatedWorld().run { world in
            let fixture = try fixture(world)
            try fixture.folder.edit("policies/feed.json", CacheFixture.file, CacheFixture.memory)
            try fixture.folder.write("in the way", to: "cache")
            let pantry = try await fixture.open()
            #expect(pantry.attachment(Notes.self, of: "feed") == nil)
            #expect(
                pantry.cacheProblems.map(\.description) == [
                    "feed: the section 'notes' is left out: the section's folder cannot be used: "
                        + "cannot make a folder: Not a directory"
                ])
            try FileManager.default.removeItem(at: fixture.folder.url.appending(path: "cache"))
            try await pantry.reload()
            #expect(pantry.attachment(Notes.self, of: "feed") != nil && pantry.cacheProblems.isEmpty)
        }
    }
}
