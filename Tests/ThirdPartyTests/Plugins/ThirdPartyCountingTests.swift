import LarderFoundation
import Larder
import LarderSimulation
import Testing

// MARK: What the plugins declare

extension Counter {
    fileprivate static let yawns = Counter("yawns", "Calls that waited for a yawn")
    fileprivate static let yawnTime = Counter("yawn_milliseconds", "How long calls waited for yawns")
    fileprivate static let picks = Counter("picks", "Loads that a strategy picked")
    fileprivate static let undeclared = Counter("secrets", "Something that no plugin declares")
}

extension Level {
    fileprivate static let vigil = Level("vigil", "Whether the origin is awake", values: ["awake", "fast-asleep"])
}

extension Decision.Kind {
    fileprivate static let yawn = Decision.Kind(rawValue: "yawn")
}

// MARK: The plugins

/// A wrapper that delays calls, counts them and reports them.
private struct Yawning: Loader {
    let inner: any Loader
    let context: Context

    func load(_ call: Call) async throws -> Loaded<Entry> {
        context.count(.yawns)
        context.count(.undeclared)
        context.set(.vigil, to: "fast-asleep")
        context.set(.vigil, to: "a secret")
        context.tell(.yawn, "waits 40 ms")
        try await context.world.sleep(for: .milliseconds(40))
        context.count(.yawnTime, 40)
        return try await inner.load(call)
    }
}

/// A strategy that calls the origin and counts the calls.
private struct Picky: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        sides.count(.picks)
        return try await sides.load(call)
    }
}

/// A store that evicts each entry as soon as it is written.
private struct Hasty: Store {
    let context: StoreContext

    func read(_ reading: Reading) -> Found? { nil }

    func write(_ entry: Entry, for key: Key) -> Bool {
        context.forgot([EvictedEntry(key: key, tier: "hasty", reason: .capacity)])
        return false
    }

    func remove(_ selection: Selection) {}

    func statistics() -> StoreStatistics { StoreStatistics() }
}

extension Plugin {
    fileprivate static let yawning = Plugin.wrapper(
        "yawning", "Lets each call wait.", counters: [.yawns, .yawnTime], levels: [.vigil]
    ) { context, inner in
        Yawning(inner: inner, context: context)
    }

    fileprivate static let picky = Plugin.strategy("picky", "Asks the origin.", needs: .origin, counters: [.picks]) {
        sides in Picky(sides: sides)
    }
}

// MARK: The tests

/// Third-party plugins count and report like the built-in ones.
@Suite struct ThirdPartyCountingTests {
    private static let policy = """
        { "resource": "greetings", "origin": { "use": "greeting", "times": 1 }, "around": ["yawning"],
          "strategy": "picky" }
        """

    private static func pantry(_ world: SimulatedWorld, _ folder: TemporaryFolder) async throws -> Pantry {
        try folder.write(policy, to: "greetings.json")
        var registry = Registry.standard
        for plugin in [Plugin.greeting, .yawning, .picky] { try registry.register(plugin) }
        return try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
    }

    @Test func countersAreZeroAndLevelsHaveTheirFirstValueBeforeTheFirstLoad() throws {
        try SimulatedWorld().run { world in
            let dump = await (try await Self.pantry(world, TemporaryFolder())).metrics.dump()
            let resource = try #require(dump.resources.first)
            #expect(resource.total.counters == Counter.core + [.picks, .yawnTime, .yawns])
            #expect(resource.levels == [.vigil: "awake"])
            #expect(dump.json.text(indented: false).contains(#""picks":0,"yawn_milliseconds":0,"yawns":0}"#))
        }
    }

    @Test func countersAndLevelsAppearInTheDumpWithTheirDeclarations() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world, TemporaryFolder())
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let metrics = pantry.resource("greetings").metrics
            #expect(metrics[.yawns] == 1 && metrics[.yawnTime] == 40 && metrics[.picks] == 1)
            let dump = await pantry.metrics.dump()
            let text = dump.json.text(indented: false)
            #expect(text.contains(#""picks":1,"yawn_milliseconds":40,"yawns":1}"#))
            #expect(text.contains(#""vigil":"fast-asleep""#))
            #expect(text.contains(#""yawns":"Calls that waited for a yawn""#))
            #expect(text.contains(#"{"help":"Whether the origin is awake","values":["awake","fast-asleep"]}"#))
            let read = try MetricsDump(reading: Array(text.utf8))
            #expect(read.json == dump.json && read.openMetrics == dump.openMetrics)
            #expect(read.resources[0].total[.yawns] == 1 && read.resources[0].levels[.vigil] == "fast-asleep")
        }
    }

    @Test func textFormatsIncludeDeclaredCountersAndLevels() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world, TemporaryFolder())
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let text = await pantry.metrics.dump().openMetrics
            let revision = try #require(pantry.policy(of: "greetings")?.revision)
            let labels = #"{resource="greetings",revision="\#(revision)",strategy="picky"}"#
            #expect(
                text.contains(
                    """
                    # HELP larder_yawn_seconds How long calls waited for yawns
                    # TYPE larder_yawn_seconds counter
                    # UNIT larder_yawn_seconds seconds
                    larder_yawn_seconds_total\(labels) 0.04
                    # HELP larder_yawns Calls that waited for a yawn
                    # TYPE larder_yawns counter
                    larder_yawns_total\(labels) 1

                    """))
            #expect(
                text.contains(
                    """
                    # HELP larder_vigil_fast_asleep Whether the origin is awake: 1 while it is fast-asleep
                    # TYPE larder_vigil_fast_asleep gauge
                    larder_vigil_fast_asleep{resource="greetings"} 1

                    """))
        }
    }

    @Test func undeclaredCountersAndValuesAreNotKept() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world, TemporaryFolder())
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let dump = await pantry.metrics.dump()
            #expect(pantry.resource("greetings").metrics[.undeclared] == 0)
            #expect(!dump.json.text().contains("secret") && !dump.prometheus.contains("secret"))
        }
    }

    @Test func eventOfAPluginIsADecisionWithResourceAndRevision() throws {
        try SimulatedWorld().run { world in
            let pantry = try await Self.pantry(world, TemporaryFolder())
            var decisions = pantry.decisions.makeAsyncIterator()
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let decision = try #require(await decisions.next())
            #expect(decision.kind == .yawn && decision.note == "waits 40 ms" && decision.resource == "greetings")
            #expect(decision.revision == pantry.policy(of: "greetings")?.revision)
            #expect(decision.json.text(indented: false).contains(#""kind":"yawn""#))
        }
    }

    @Test func evictionsReportedByStoreReachTheApp() throws {
        try SimulatedWorld().run { world in
            let folder = try TemporaryFolder()
            try folder.write(
                #"{ "resource": "greetings", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first", "store": "hasty" }"#,
                to: "greetings.json")
            var registry = Registry.standard
            try registry.register(.store("hasty", "Forgets at once.") { context in Hasty(context: context) })
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            var forgotten = pantry.forgotten.makeAsyncIterator()
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let entry = await forgotten.next()
            #expect(entry?.tier == "hasty" && entry?.key.resource == "greetings")
        }
    }

    @Test(arguments: [
        ("loads", "Larder counts that itself"), ("store_hits", "the text formats use that name already"),
        ("in_bytes", "the text formats use that name already"),
        ("retries", "that name is already used with another meaning"),
        ("breaker_half_open", "that name is already used with another meaning"),
        ("naps_total", "its name is not made of lowercase words joined by underscores"),
        ("", "its name is not made of lowercase words joined by underscores"),
        ("Naps", "its name is not made of lowercase words joined by underscores"),
        ("naps_", "its name is not made of lowercase words joined by underscores"),
        ("1_nap", "its name is not made of lowercase words joined by underscores"),
        ("nap\nlarder", "its name is not made of lowercase words joined by underscores"),
        (String(repeating: "n", count: 65), "its name is not made of lowercase words joined by underscores"),
    ])
    func counterThatCannotHaveItsNameIsRefused(_ name: String, _ reason: String) throws {
        var registry = Registry.standard
        let plugin = Plugin.wrapper("nap", "Naps.", counters: [Counter(name, "Naps")]) { _, inner in inner }
        let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(plugin) }
        #expect(conflict?.description == "wrapper 'nap' cannot have the counter '\(name)': \(reason)")
    }

    @Test func namesOfOnePluginThatMeetInTheTextFormatsAreRefused() throws {
        let mood = Level("mood", "Naps", values: ["calm", "very-angry"])
        let pairs: [([Counter], [Level])] = [
            ([Counter("bytes_nap", "Naps"), Counter("nap_bytes", "Naps")], []),
            ([Counter("mood_very_angry", "Naps")], [mood]),
            ([], [mood, Level("mood_very", "Naps", values: ["calm", "angry"])]),
            ([], [mood, Level("mood", "Naps", values: ["calm", "happy"])]),
        ]
        for (counters, levels) in pairs {
            var registry = Registry.standard
            let plugin = Plugin.wrapper("nap", "Naps.", counters: counters, levels: levels) { _, inner in inner }
            let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(plugin) }
            #expect(conflict?.description.hasSuffix(": that name is already used with another meaning") == true)
        }
    }

    @Test func countersOfLarderAreNotCountedByPlugins() throws {
        try SimulatedWorld().run { world in
            let folder = try TemporaryFolder()
            try folder.write(
                #"{ "resource": "greetings", "origin": { "use": "greeting", "times": 1 }, "around": ["greedy"], "strategy": "greedy" }"#,
                to: "greetings.json")
            var registry = Registry.standard
            try registry.register(.greeting)
            try registry.register(
                .wrapper("greedy", "Counts all it can.", counters: [.yawns]) { context, inner in
                    for counter in Counter.core + [.yawns, .yawns] { context.count(counter, .max) }
                    return inner
                })
            try registry.register(
                .strategy("greedy", "Counts all it can.", needs: .origin) { sides in
                    for counter in Counter.core { sides.count(counter, .max) }
                    return Picky(sides: sides)
                })
            let pantry = try await Pantry(policies: folder.url, registry: registry, cache: folder.url, world: world)
            _ = try await pantry.resource("greetings").load(["name": "Ada"])
            let metrics = pantry.resource("greetings").metrics
            #expect(
                metrics.loads == 1 && metrics["hits"] == 0 && metrics["origin_calls"] == 1 && metrics[.hitRate] == 0)
            #expect(metrics["bytes_out"] < 100 && metrics[.yawns] == .max)
            // A dump never claims more than its readers accept.
            let text = await pantry.metrics.dump().json.text()
            #expect(try MetricsDump(reading: Array(text.utf8)).resources[0].total[.yawns] == 1_000_000_000_000_000)
        }
    }

    @Test func countersOfOneNameAndHelpMayBeShared() throws {
        var registry = Registry.standard
        try registry.register(.wrapper("once", "Naps.", counters: [.yawns]) { _, inner in inner })
        try registry.register(.wrapper("twice", "Naps.", counters: [.yawns, .retries]) { _, inner in inner })
        #expect(registry[.wrapper, "twice"] != nil)
    }

    @Test(arguments: [
        (Level("store", "Naps", values: ["a", "b"]), "dumps use that name already"),
        (Level("nap2", "Naps", values: ["a", "b"]), "its name is not made of lowercase words joined by underscores"),
        (Level("nap", "Naps", values: ["a"]), "it does not have two to 16 different values"),
        (Level("nap", "Naps", values: ["a", "a"]), "it does not have two to 16 different values"),
        (Level("nap", "Naps", values: ["a", "B"]), "a value is not made of lowercase words joined by hyphens"),
        (Level("hit", "Naps", values: ["a", "rate"]), "the text formats use that name already"),
        (Level("nap", "Naps", values: ["a", "in-total"]), "the text formats use an ending of its values"),
        (Level("breaker", "Naps", values: ["a", "open"]), "that name is already used with another meaning"),
        (Level("breaker", "Naps", values: ["a", "b"]), "that name is already used with another meaning"),
        (Level("breaker_half", "Naps", values: ["a", "open"]), "that name is already used with another meaning"),
    ])
    func levelThatCannotHaveItsNameOrValuesIsRefused(_ level: Level, _ reason: String) throws {
        var registry = Registry.standard
        let plugin = Plugin.wrapper("nap", "Naps.", levels: [level]) { _, inner in inner }
        let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(plugin) }
        #expect(conflict?.description == "wrapper 'nap' cannot have the level '\(level.name)': \(reason)")
    }
}
