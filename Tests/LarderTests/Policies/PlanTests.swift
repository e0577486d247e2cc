import LarderFoundation
import LarderSystem
import LarderSimulation
import Testing

@testable import LarderCore

/// The graph that runs is the plan, layer by layer.
@Suite struct PlanTests {
    /// A registry of plugins that tell when they are made, and when a call meets them.
    private final class Recorder: Sendable {
        let made = Locked<[String]>([])
        let met = Locked<[String]>([])
        let written = Locked(0)

        func registry() throws -> Registry {
            try Registry([
                .origin("near", "Fails.") { [self] _ in layer("near") },
                .origin("far", "Answers.") { [self] _ in layer("far", answer: Loaded(Entry(Data("far".utf8)))) },
                .origin(
                    "both-ways", "Several origins.", Setting("ways", .list(of: .part(.origin)), help: "The origins")
                ) { [self] context, ways in
                    layer("both-ways", around: try ways.map { try $0.origin(in: context) }.last)
                },
                .wrapper("outer", "Stands outside.") { [self] in layer("outer", around: $1) },
                .wrapper("inner", "Stands inside.", Setting("times", .int(1...9), default: 1, help: "How often")) {
                    [self] _, inner, _ in layer("inner", around: inner)
                },
                .strategy("both-sides", "Asks, and keeps.") { [self] in layer("both-sides", around: $0.live) },
                .strategy("live-side", "Asks.", needs: .origin) { [self] in layer("live-side", around: $0.live) },
                .strategy("cached-side", "Looks.", needs: .store) { [self] in layer("cached-side", around: $0.cached) },
                .validator("first", "Judges.") { [self] _ in judge("first") },
                .validator("second", "Judges.") { [self] _ in judge("second") },
                .store(
                    "box", "Keeps.", Setting("eviction", optional: .part(.eviction), help: "What it forgets"),
                    Setting("inside", .list(of: .part(.store)), default: [], help: "Stores")
                ) { [self] context, eviction, inside in
                    made.withLock { $0.append("box") }
                    _ = try eviction?.eviction()
                    for part in inside { _ = try part.store(in: context) }
                    return Box(recorder: self)
                },
                .eviction("oldest", "Forgets.") { [self] in
                    made.withLock { $0.append("oldest") }
                    return Oldest()
                },
            ])
        }

        private func layer(_ name: String, around inner: (any Loader)? = nil, answer: Loaded<Entry>? = nil) -> Layer {
            made.withLock { $0.append(name) }
            return Layer(name: name, inner: inner, answer: answer, recorder: self)
        }

        private func judge(_ name: String) -> Judge {
            made.withLock { $0.append(name) }
            return Judge()
        }
    }

    private struct Layer: Loader {
        let name: String
        let inner: (any Loader)?
        let answer: Loaded<Entry>?
        let recorder: Recorder

        func load(_ call: Call) async throws -> Loaded<Entry> {
            recorder.met.withLock { $0.append(name) }
            if let inner { return try await inner.load(call) }
            if let answer { return answer }
            throw LoadError(.failed, "it fails")
        }
    }

    private struct Judge: Validator {}

    private struct Box: Store {
        let recorder: Recorder

        func read(_ reading: Reading) -> Found? { nil }
        func write(_ entry: Entry, for key: Key) -> Bool {
            recorder.written.withLock { $0 += 1 }
            return true
        }
        func remove(_ selection: Selection) {}
        func statistics() -> StoreStatistics { StoreStatistics() }
    }

    private struct Oldest: Eviction {
        mutating func inserted(_ place: Int, hash: Int, weight: Int) {}
        mutating func used(_ place: Int) {}
        mutating func removed(_ place: Int) {}
        mutating func evict() -> Int? { nil }
    }

    /// A resource called `feed` of a policy with these members, and its plan.
    private struct Room {
        let recorder = Recorder()
        let folder: Folder
        let pantry: Pantry
        let plan: Plan

        init(_ world: SimulatedWorld, _ members: String, isMeasured: Bool = true) async throws {
            folder = try Folder()
            try folder.write("{ \"resource\": \"feed\", \(members) }", to: "feed.json")
            let reader = PolicyReader(registry: try recorder.registry(), folder: folder.path, environment: [:])
            pantry = try await Pantry(
                reader: reader, cache: folder.url.appending(path: "cache"), world: world, isMeasured: isMeasured)
            plan = Plan(try #require(pantry.policy(of: "feed")))
        }
    }

    private static let around = #""around": ["outer", "inner", { "use": "inner", "times": 2 }, "inner"]"#
    private static let others = #""validators": ["first", "second", "first"], "fallbacks": ["near", "far"]"#
    private static let store = #""store": { "use": "box", "eviction": "oldest", "inside": ["box", "box"] }"#

    @Test(arguments: [
        #""strategy": "both-sides", "origin": "near""#,
        #""strategy": "both-sides", "origin": "near", \#(around), \#(others), \#(store)"#,
        #""strategy": "both-sides", "origin": { "use": "both-ways", "ways": ["near", "far"] }, "store": "box""#,
        #""strategy": "live-side", "origin": "near", \#(around), "validators": ["first"]"#,
        #""strategy": "live-side", "origin": "near", \#(others), \#(store)"#,
        #""strategy": "cached-side", \#(others), \#(store)"#,
        #""strategy": "cached-side""#,
        #""strategy": "cached-side", "origin": "near", \#(around), "store": "box""#,
    ])
    func everyPartOfThePlanIsMadeOnceAndNothingElse(_ members: String) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world, members)
            #expect(room.recorder.made.withLock { $0 }.sorted() == room.plan.parts.map(\.plugin.name).sorted())
        }
    }

    @Test func callMeetsPartsInOrderOfPlan() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(
                world, #""strategy": "both-sides", "origin": "near", \#(Self.around), \#(Self.others), \#(Self.store)"#)
            #expect(try await room.pantry.resource("feed").load().text == "far")
            let judges = Set(["first", "second", "box", "oldest"])
            #expect(
                room.recorder.met.withLock { $0 }
                    == room.plan.parts.map(\.plugin.name).filter { !judges.contains($0) })
        }
    }

    @Test(arguments: ["both-sides", "live-side"]) func answersAreSavedIfThePlanSaysSo(_ strategy: String) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world, #""strategy": "\#(strategy)", "origin": "far", "store": "box""#)
            _ = try await room.pantry.resource("feed").load()
            let saves = room.plan.node.all.contains { $0.name == "saving" }
            #expect(saves == (strategy == "both-sides"))
            #expect(room.recorder.written.withLock { $0 } == (saves ? 1 : 0))
        }
    }

    @Test(arguments: [true, false]) func loadsAreCountedIfThePlanSaysSo(isMeasured: Bool) throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(
                world, #""strategy": "live-side", "origin": "far""#, isMeasured: isMeasured)
            _ = try await room.pantry.resource("feed").load()
            let policy = try #require(room.pantry.policy(of: "feed"))
            let plan = Plan(policy, isMeasured: isMeasured)
            #expect((plan.node.children.first?.name == "measured") == isMeasured)
            #expect(room.pantry.resource("feed").metrics[.loads] == (isMeasured ? 1 : 0))
            #expect(room.pantry.resource("feed").metrics[.originCalls] == 1)
        }
    }

    @Test func storeNotUsedByStrategyIsShownBesideGraph() throws {
        try SimulatedWorld().run(leaving: .anything) { world in
            let room = try await Room(world, #""strategy": "live-side", "origin": "far", "store": "box""#)
            #expect(
                room.plan.tree.split(separator: "\n").dropFirst().joined(separator: "\n") == """
                    ├─ measured
                    │  └─ live-side
                    │     └─ live: shared  (one flight for each key)
                    │        └─ decoding
                    │           └─ measured  (each call)
                    │              └─ far
                    └─ store: box  (not used by the strategy; clearings reach it)
                    """)
        }
    }
}
