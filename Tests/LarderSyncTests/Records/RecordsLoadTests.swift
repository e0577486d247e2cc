import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Loads of a resource with records, and its policy.
@Suite struct RecordsLoadTests {
    @Test func loadAnswersFromTheTable() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#, #"{"id":"b","title":"y"}"#])
            try await notes.update("b") { $0.title = "mine" }
            try await app.world.sleep(for: .seconds(60))
            let list = try await pantry.resource("notes", as: [Note].self).load()
            #expect(list.value.map(\.title) == ["x", "mine"])
            #expect(list.source == .store("records") && list.freshness == .stale && list.age == .seconds(60))
            #expect(list.trail.description.contains("2 records, all that there were at the last complete pull"))
            let one = try await pantry.resource("notes", as: Note.self).load(["id": "b"])
            #expect(one.value.title == "mine" && one.metadata?.contentType == "application/json")
            #expect(pantry.resource("notes").metrics.loads == 2)
        }
    }

    @Test func loadSaysWhatIsNotKnownAndWhatIsNotThere() throws {
        try RecordsApp.run { _, pantry, notes in
            let resource = pantry.resource("notes")
            func code(_ parameters: Parameters) async -> LoadError? {
                do { _ = try await resource.load(parameters) } catch { return error as? LoadError }
                return nil
            }
            #expect(await code([:])?.code == .notCached)
            #expect(await code(["id": "a"])?.code == .notCached)
            try await notes.pull([])
            #expect(await code([:]) == nil)
            #expect(await code(["id": "a"])?.status == 404)
            #expect(await code(["name": "a"])?.code == .invalidRequest)
        }
    }

    @Test func loadGivesNothingOlderThanTheRequestAllows() throws {
        try RecordsApp.run { app, pantry, notes in
            try await notes.pull([#"{"id":"a","title":"x"}"#, #"{"id":"b","title":"y"}"#])
            let made = try await notes.create(Note(title: "mine"))
            try await notes.delete("b")
            try await app.world.sleep(for: .seconds(60))
            let resource = pantry.resource("notes")
            for (limit, isYoung) in [(Duration.seconds(61), true), (.seconds(60), false)] {
                func code(_ parameters: Parameters) async -> LoadError.Code? {
                    do { _ = try await resource.load(parameters, noOlderThan: limit) } catch {
                        return (error as? LoadError)?.code
                    }
                    return nil
                }
                #expect(await code([:]) == (isYoung ? nil : .notCached))
                #expect(await code(["id": "a"]) == (isYoung ? nil : .notCached))
                #expect(await code(["id": "c"]) == (isYoung ? .answer : .notCached))
                // The user's own records and deletions are never too old.
                #expect(await code(["id": made.id]) == nil)
                #expect(await code(["id": "b"]) == .answer)
            }
        }
    }

    @Test func loadEndsAtItsDeadlineIfReadingTakesLonger() throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { base in
            let world = SlowReadingWorld(base: base)
            let pantry = try await RecordsApp(in: world).pantry()
            try await pantry.records("notes", of: Note.self).create(Note(title: "x"))
            let resource = pantry.resource("notes", as: [Note].self)
            world.wait.withLock { $0 = .seconds(5) }
            #expect(try await resource.load(deadline: .seconds(6)).value.count == 1)
            let start = world.uptime
            let error = await #expect(throws: LoadError.self) { try await resource.load(deadline: .seconds(2)) }
            #expect(error?.code == .deadline && world.uptime - start == .seconds(2))
            await pantry.close()
        }
    }

    @Test func streamOfUpdatesShowsTheRecords() throws {
        try RecordsApp.run { _, pantry, notes in
            try await notes.create(Note(title: "x"))
            var updates = pantry.resource("notes", as: [Note].self).updates().makeAsyncIterator()
            let first = try #require(try await updates.next())
            guard case .value(let loaded) = first else {
                Issue.record("\(first)")
                return
            }
            #expect(loaded.value.map(\.title) == ["x"])
        }
    }

    @Test func screenShowsTheRecordsAndWhatWasNeverThere() throws {
        try RecordsApp.run { _, pantry, notes in
            let live = pantry.resource("notes", as: [Note].self).live()
            await live.reload()
            #expect(live.value == nil)
            try await notes.create(Note(title: "x"))
            await live.reload()
            #expect(live.value?.map(\.title) == ["x"])
            await live.refresh()
            #expect(live.value?.map(\.title) == ["x"])
        }
    }

    @Test(arguments: [
        (#""id": "id""#, "RFC 6901"), (#""id": "/""#, "RFC 6901"), (#""id": "/a~2""#, "RFC 6901"),
        (#""ids": "client""#, "needs the setting 'id'"),
        (#""id": "/id", "conflict": "last-write-wins""#, "'updatedAt', which is not set"),
        (#""id": "/id", "time": "seconds""#, "'updatedAt' is not set"),
        (#""id": "/id", "versions": "increasing""#, "'version' is not set"),
        (#""id": "/id", "updatedAt": "/id""#, "different places"),
        (#""id": "/id", "indexes": [["a", "b", "c", "d", "e"]]"#, "more than 4 fields"),
        (#""id": "/id", "indexes": [["a\"b"]]"#, "a field such as"),
        (#""id": "/id", "conflict": { "use": "merge-fields", "union": ["id"] }"#, "no list"),
        (#""id": "/id", "conflict": "mine""#, "last-write-wins"),
        (#""id": "/id", "push": { "use": "rest", "create": { "method": "GET" } }"#, "a method that changes something"),
        (#""id": "/id", "push": { "use": "rest", "delete": { "method": "{id}" } }"#, "a method that changes something"),
    ])
    func mistakeInThePolicyIsFound(_ settings: String, _ words: String) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let policy = #"{ "resource": "notes", "origin": "service", "records": { \#(settings) } }"#
            do {
                _ = try await app.pantry(["notes": policy])
                Issue.record("no mistake was found")
            } catch { #expect("\(error)".contains(words), "\(error)") }
        }
    }

    @Test func listThatCannotBeMergedIsFoundInThePolicy() throws {
        let policy = """
            { "resource": "notes", "origin": "service",
              "records": { "id": "/id", "version": "/\u{e9}",
                           "conflict": { "use": "merge-fields", "union": [UNION] } } }
            """
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            for union in ["\"id\"", "\"tags\", \"\u{e9}\""] {
                do {
                    _ = try await app.pantry(["notes": policy.replacing("UNION", with: union)])
                    Issue.record("no mistake was found")
                } catch {
                    #expect("\(error)".contains("$.records.conflict.union"), "\(error)")
                    #expect("\(error)".contains("notes.json:3:"), "\(error)")
                }
            }
            // The same letter of two characters is another name.
            let pantry = try await app.pantry(["notes": policy.replacing("UNION", with: "\"e\u{301}\"")])
            await pantry.close()
        }
    }

    @Test(arguments: [
        (#""records": { "id": "/id", "pull": "all" }"#, "'all' calls an origin, and the policy has none"),
        (
            #""origin": { "use": "sample", "payload": "feed" }, "records": { "id": "/id", "push": "rest" }"#,
            "'rest' sends changes, and the origin accepts none"
        ),
    ])
    func missingOriginIsAMistake(members: String, message: String) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            do {
                _ = try await RecordsApp(in: world).pantry(["notes": #"{ "resource": "notes", \#(members) }"#])
                Issue.record("no mistake was found")
            } catch { #expect("\(error)".contains(message), "\(error)") }
        }
    }

    @Test(arguments: [
        (
            #""strategy": "network-only", "outbox": { "merge": true }"#,
            "'merge' has no effect without the section 'records'"
        ),
        (
            #""records": { "id": "/id" }, "outbox": { "order": ["id"] }"#,
            "'order' has no effect beside the section 'records'"
        ),
    ])
    func settingOfTheOutboxWithoutEffectIsAMistake(sections: String, message: String) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            do {
                _ = try await RecordsApp(in: world).pantry([
                    "notes": #"{ "resource": "notes", "origin": "service", \#(sections) }"#
                ])
                Issue.record("no mistake was found")
            } catch {
                #expect("\(error)".contains(message), "\(error)")
                #expect("\(error)".contains("$.outbox."), "\(error)")
            }
        }
    }

    @Test func settingsBecomeRules() throws {
        let policy = """
            { "resource": "notes", "origin": "service",
              "records": { "id": "/a/id", "ids": "server", "version": "/v", "versions": "increasing", "updatedAt": "/at",
                           "time": "seconds", "sweepGuard": "10%", "indexes": [["-at"], ["/a/b", "c"]],
                           "conflict": { "use": "last-write-wins", "of": "record", "union": ["tags"] } },
              "outbox": { "merge": false, "durability": "process" } }
            """
        try RecordsApp.run(policy) { _, _, notes in
            let attachment = try notes.attachment()
            let rules = attachment.planner.rules
            #expect(rules.idPath == ["a", "id"] && rules.ids == .server && rules.versionPath == ["v"])
            #expect(rules.versionsIncrease && rules.stamp == StampPlace(path: ["at"], format: .seconds))
            #expect(rules.conflict.isAboutRecords && rules.unions == [["tags"]] && rules.sweepGuard == 0.1)
            #expect(!rules.merges && attachment.outbox.durability == .process)
            #expect(!rules.source.isEmpty && rules.formerSources.isEmpty)
        }
    }
}

/// A simulated world in which reading records takes a while.
private struct SlowReadingWorld: World {
    let base: SimulatedWorld
    let wait = Locked(Duration.zero)

    var now: Timestamp { base.now }
    var uptime: Duration { base.uptime }
    var hasOtherProcesses: Bool { false }
    func random() -> UInt64 { base.random() }
    func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
    func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { base.spawn(work) }
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await base.blocking(work)
    }

    func blocking<Value: Sendable>(
        on name: String, atMost limit: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        if name.hasSuffix("?read") { try await base.sleep(for: wait.withLock { $0 }) }
        return try await base.blocking(on: name, atMost: limit, work)
    }
}
