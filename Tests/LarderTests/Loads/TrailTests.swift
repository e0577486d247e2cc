import LarderFoundation
import Larder
import LarderSimulation
import Testing

@testable import LarderCore

/// Trails tell what happened as facts, and put them into words when they are read.
@Suite struct TrailTests {
    private enum Mood: String { case calm, hurried }

    // MARK: One event

    @Test func eventKeepsTheTypeOfEachFact() {
        let event = Trail.Event(
            "paced",
            """
            \("mood", Mood.calm): waits \(.wait, .milliseconds(1_500)) behind \("calls", 3) calls of \("who", "an app"), \
            for \("causes", ["age", "size"], separator: " and ")
            """)
        #expect(event.kind == "paced" && event.kind != .retrying)
        #expect(event[.wait] == .milliseconds(1_500) && event["calls"] == 3 && event["mood"] == Mood.calm)
        #expect(event["who"] == "an app" && event["causes"] == ["age", "size"])
        #expect("\(event)" == "calm: waits 1.5 s behind 3 calls of an app, for age and size")
    }

    @Test func factThatAnEventLacksOrHasOfAnotherTypeIsNil() {
        let event = Trail.Event("paced", "waits \(.wait, .seconds(1)) in \("mood", "anger")")
        #expect(event[.after] == nil && event[.reasons] == nil && event[.code] == nil)
        #expect((event["wait"] as Int?) == nil && (event["mood"] as Mood?) == nil)
    }

    @Test func eventsAreEqualWhenKindAndFactsAre() {
        let event = Trail.Event("paced", "waits \(.wait, .seconds(1))")
        #expect(event == Trail.Event("paced", "waits \(.wait, .seconds(1))"))
        #expect(event != Trail.Event("paced", "waits \(.wait, .seconds(2))"))
        #expect(event != Trail.Event("waited", "waits \(.wait, .seconds(1))"))
        // The words are the same, and the facts are not.
        #expect(event != Trail.Event("paced", "waits 1 s"))
    }

    @Test func nestedEventAddsFactsAndFirstOfEachNameCounts() {
        let inner = Trail.Event("slow", "slow for \(.after, .seconds(1))")
        let outer = Trail.Event("twice", "\(inner), then for \(.after, .seconds(2))")
        #expect("\(outer)" == "slow for 1 s, then for 2 s" && outer[.after] == .seconds(1))
        #expect(Trail.Step("pace", outer).json == ["part": "pace", "event": "twice", "after": .number(1)])
    }

    @Test func factDoesNotReplacePartOrEventOfStep() {
        let event = Trail.Event("paced", #"\("part", "mine") and \("event", "other") of \("list", ["a", "b"])"#)
        let spoken = Trail.Event("paced", "\("part", "mine") and \("event", "other") of \("list", ["a", "b"])")
        #expect(Trail.Step("pace", event).json == ["part": "pace", "event": "paced"])
        #expect(Trail.Step("pace", spoken).json == ["part": "pace", "event": "paced", "list": ["a", "b"]])
    }

    // MARK: Failures

    @Test func failureIsAnEventWithItsCodeAndStatus() {
        let failure = LoadError.status(503)
        #expect(failure.message == "the origin answered 503" && "\(failure.event)" == failure.message)
        #expect(failure.event.kind == .failed && failure.event[.code] == .failed && failure.event[.status] == 503)
        let plain = LoadError(.refused, "payload refused: too large", status: 200)
        #expect("\(plain.event)" == plain.message && plain.event[.code] == .refused && plain.event[.status] == 200)
        #expect(LoadError.overdue.event[.code] == .deadline && LoadError.overdue.event[.status] == nil)
    }

    @Test func failureMadeWithAnEventKeepsItsKindUntilItsMessageIsReplaced() {
        var failure = LoadError(.unavailable, Trail.Event("paused", "paused for \(.left, .seconds(5))"))
        #expect(failure.message == "paused for 5 s" && failure.event.kind == "paused")
        #expect(failure.event[.left] == .seconds(5) && failure.event[.code] == .unavailable)
        failure.message = "closed"
        #expect(failure.message == "closed" && failure.event.kind == .failed && failure.event[.left] == nil)
    }

    @Test func everyCodeIsFoundByItsName() {
        for code in LoadError.Code.allCases { #expect(LoadError.Code(rawValue: code.rawValue) == code) }
        #expect(LoadError.Code(rawValue: "unknown") == nil)
    }

    // MARK: Loads

    @Test(arguments: [#""cache-first""#, #""stale-while-revalidate""#])
    func trailTellsThatCopyWasRefusedAlthoughOriginAnswers(_ strategy: String) throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: strategy,
                validators: #"[{ "use": "entry-version", "version": 7 }, { "use": "age", "fresh": "1h" }]"#)
            _ = try await simulated.feed.load()
            try await simulated.edit(#""version": 7"#, #""version": 8"#)
            simulated.origin.play(.value("new", after: .milliseconds(20)))
            let loaded = try await simulated.feed.load()
            #expect(loaded.trail.lines == ["faulty: copy refused: entry-version 8", "origin: answered after 20 ms"])
            try await simulated.edit(#""version": 8"#, #""version": 9"#)
            let failure = await #expect(throws: LoadError.self) { try await simulated.feed.load(mode: .cachedOnly) }
            #expect(failure?.trail.lines == ["faulty: copy refused: entry-version 9"])
            #expect(failure?.message == "not cached: the copy was refused (entry-version 9)")
        }
    }

    @Test func trailDoesNotTellThatCopyWasOnlyTooOldIfOriginAnswers() throws {
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                world, strategy: #""cache-first""#, validators: #"[{ "use": "age", "fresh": "1m" }]"#)
            simulated.stock("old", age: .seconds(120))
            simulated.origin.play(.value("new", after: .milliseconds(20)))
            #expect(try await simulated.feed.load().trail.lines == ["origin: answered after 20 ms"])
        }
    }

    private static let impatient = #"{ "use": "network-first", "patience": "1s", "rest": "0s" }"#

    /// A pantry whose copies are fresh for five minutes, and shown on error for a week.
    private static func simulated(
        _ world: SimulatedWorld, _ strategy: String = impatient, around: String = "[]", age: Duration? = .seconds(600)
    ) async throws -> SimulatedPantry {
        let simulated = try await SimulatedPantry(
            world, strategy: strategy, validators: #"[{ "use": "age", "fresh": "5m", "onError": "7d" }]"#,
            around: around)
        if let age { simulated.stock("old", age: age) }
        return simulated
    }

    /// The steps of a load that ended so, for programs.
    private static func steps(_ load: Result<Loaded<Data>, any Error>) -> [JSON] {
        switch load {
        case .success(let loaded): loaded.trail.steps.map(\.json)
        case .failure(let error): (error as? LoadError)?.trail.steps.map(\.json) ?? []
        }
    }

    private static let copy: JSON = [
        "part": "faulty", "event": "copyShown", "freshness": "stale", "age": .number(600),
        "reasons": ["age.onError 7d"],
    ]

    @Test func trailNamesTimesOfTimeoutAndRetry() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(
                world, #""network-only""#,
                around: #"[{ "use": "retry", "backoff": "1s" }, { "use": "timeout", "after": "800ms" }]"#, age: nil)
            simulated.origin.play(.value("late", after: .seconds(2)), .value("new", after: .milliseconds(20)))
            let loaded = try await simulated.feed.load()
            #expect(
                loaded.trail.lines == [
                    "retry: timed out after 800 ms; try 2 after 1 s", "origin: answered after 20 ms",
                ])
            #expect(
                Self.steps(.success(loaded)) == [
                    [
                        "part": "retry", "event": "retrying", "after": .number(0.8), "cause": "timeout",
                        "code": "timeout", "attempt": .int(2), "wait": .number(1),
                    ], ["part": "origin", "event": "answered", "after": .number(0.02)],
                ])
        }
    }

    @Test func trailNamesFailedCallAndCopyShownInstead() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            simulated.origin.play(.failure(.status(503)))
            #expect(
                Self.steps(.success(try await simulated.feed.load())) == [
                    ["part": "origin", "event": "failed", "status": .int(503), "code": "failed"], Self.copy,
                ])
        }
    }

    @Test func trailNamesCallThatExceedsPatienceAndJoinedCall() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, age: .seconds(599))
            simulated.origin.play(.value("new", after: .seconds(3)))
            #expect(
                Self.steps(.success(try await simulated.feed.load())) == [
                    ["part": "origin", "event": "noAnswer", "after": .number(1)], Self.copy,
                ])
            #expect(
                Self.steps(.success(try await simulated.feed.load(mode: .refresh))) == [
                    ["part": "shared", "event": "joined"],
                    ["part": "origin", "event": "answered", "after": .number(3)],
                ])
        }
    }

    @Test func trailNamesTimeLeftWhenBreakerRefuses() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(
                world, #""network-only""#, around: #"[{ "use": "breaker", "failures": 1, "rest": "30s" }]"#)
            simulated.origin.play(.failure(.status(503)))
            _ = try? await simulated.feed.load()
            try await world.sleep(for: .seconds(10))
            let refused = try #require(await #expect(throws: LoadError.self) { try await simulated.feed.load() })
            #expect(refused.event[.left] == .seconds(20) && refused.event["failures"] == 1)
            #expect(refused.message == "breaker open after 1 failures in a row, next try in 20 s")
        }
    }

    @Test func trailNamesTimesOfRest() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, #"{ "use": "cache-first", "rest": "20s" }"#)
            simulated.origin.play(then: .failure(.status(503)))
            _ = try await simulated.feed.load()
            try await world.sleep(for: .seconds(2))
            let resting = try #require(try await simulated.feed.load().trail.steps.first)
            #expect(resting.part == "origin" && resting.event.kind == .resting && resting.event[.since] == .seconds(2))
            // The rest varies by a tenth.
            #expect((.seconds(16) ... .seconds(20)).contains(resting.event[.left] ?? .zero))
        }
    }

    @Test func trailNamesTierAndEffectOfFailedStore() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, #""cache-first""#, age: nil)
            simulated.store.set(.fails, for: .write)
            simulated.origin.play(.value("new"))
            let fault = try #require(try await simulated.feed.load().trail.steps.last)
            #expect("\(fault)" == "store: not saved: faulty: told to fail")
            #expect(fault.event.kind == .storeFailed && fault.event[.effect] == "not saved")
            #expect(fault.event[.tier] == "faulty" && fault.event[.reasons] == ["told to fail"])
        }
    }

    @Test func trailNamesReasonsOfRefusedCopy() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world, #""cache-only""#, age: .seconds(30 * 86_400))
            let failure = try #require(await #expect(throws: LoadError.self) { try await simulated.feed.load() })
            let refused = try #require(failure.trail.steps.last?.event)
            #expect(refused.kind == .copyRefused && refused[.reasons]?.isEmpty == false)
            #expect("\(refused)" == "copy refused: \((refused[.reasons] ?? []).joined(separator: ", "))")
        }
    }

    @Test func logContainsStepsInWordsAndAsFacts() throws {
        try SimulatedWorld().run { world in
            let simulated = try await Self.simulated(world)
            var decisions = simulated.pantry.decisions.makeAsyncIterator()
            simulated.origin.play(.failure(.status(503)))
            _ = try await simulated.feed.load()
            let decision = try #require(await decisions.next())
            #expect(
                decision.note
                    == "origin: the origin answered 503 → faulty: stale copy, 10 min old, allowed by age.onError 7d")
            let line = decision.json.text(indented: false)
            #expect(line.contains(#""trail":["origin: the origin answered 503","faulty: stale copy, 10 min old"#))
            #expect(line.contains(#""steps":[{"part":"origin","event":"failed","status":503,"code":"failed"},{"#))
        }
    }
}
