import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// A copy belongs to the source that it came from.
@Suite struct SourceTests {
    static let stores = [
        #""memory""#, #""file""#, #"{ "use": "sqlite", "file": "a.sqlite" }"#,
        #"{ "use": "tiered", "tiers": ["memory", "file"] }"#,
        #"{ "use": "tiered", "tiers": ["memory", { "use": "sqlite", "file": "a.sqlite" }] }"#,
    ]
    static let strategies = ["cache-first", "network-first", "stale-while-revalidate", "race", "cache-only"]

    /// A service that gives its URL as data, and calls every version of it "1", as careless services do.
    private struct Service: Loader {
        let url: String
        let conditions: Locked<[String]>
        let world: any World

        func load(_ call: Call) async throws -> Loaded<Entry> {
            if url.hasPrefix("dead") { throw LoadError(.failed, "the service is dead") }
            if url.hasPrefix("slow"), call.request.mode == .refresh { try await world.sleep(for: .seconds(10)) }
            guard let known = call.known else {
                let metadata = Metadata(etag: "1", variesBy: url.hasPrefix("varied") ? ["language"] : [])
                return Loaded(Entry(Data(url.utf8), metadata))
            }
            conditions.withLock { $0.append("\(known.text) at \(url)") }
            return try .unchanged(call)
        }
    }

    /// A pantry whose policy names a service, and the conditions that services were asked with.
    private struct Home {
        let world: SimulatedWorld
        let folder: Folder
        let conditions = Locked<[String]>([])
        let registry: Registry

        init(_ world: SimulatedWorld, marks: Bool = true) throws {
            (self.world, folder) = (world, try Folder())
            let url = Setting("url", .text, help: "The URL")
            var registry = Registry.standard
            try registry.register(
                .origin(
                    "service", "Imitates a service.", marks ? url.identifiesData() : url,
                    Setting("formerly", .list(of: .text), default: [], help: "Former URLs").formerValues(of: "url"),
                    Setting("note", .text, default: "", help: "A note")
                ) { [conditions] context, url, _, _ in
                    Service(url: url, conditions: conditions, world: context.world)
                })
            self.registry = registry
        }

        func policy(_ origin: String, _ store: String, _ strategy: String) -> [String: String] {
            [
                "config": """
                { "resource": "config", "origin": { "use": "service", \(origin) }, "strategy": "\(strategy)",
                  "validators": [{ "use": "age", "fresh": "1h", "whileRevalidating": "1d", "onError": "7d" }],
                  "store": \(store) }
                """
            ]
        }

        func pantry(_ policies: [String: String], _ environment: [String: String] = [:]) async throws -> Pantry {
            try await Pantry(
                policies: policies, registry: registry, cache: folder.url.appending(path: "cache"),
                data: folder.url.appending(path: "data"), environment: environment, world: world)
        }
    }

    /// Puts policies in effect, and waits until the former store is closed and theirs is open.
    @discardableResult
    private static func replace(
        _ policies: [String: String], in pantry: Pantry, _ world: SimulatedWorld
    ) async throws -> [PolicyChange] {
        let changes = try await pantry.replace(policies: policies)
        for _ in 0..<1_000 where (try? await pantry.resource("config").list()) == nil {
            try await world.sleep(for: .seconds(1))
        }
        #expect((try? await pantry.resource("config").list()) != nil, "the store did not open")
        return changes
    }

    enum Change: CaseIterable {
        case reload, restart, environment
    }

    enum Former: CaseIterable {
        case loaded, prefetched, kept
    }

    @Test(arguments: stores, Change.allCases) func copyOfFormerURLIsNeverUsed(_ store: String, _ change: Change) throws
    {
        for strategy in Self.strategies {
            for former in Former.allCases { try Self.change(change, from: former, store, to: strategy) }
        }
    }

    /// Gets a copy from one URL, names another one, and loads in every mode.
    private static func change(_ change: Change, from former: Former, _ store: String, to strategy: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let url = change == .environment ? "${URL}" : "v1"
            let first = home.policy(#""url": "\#(url)""#, store, "cache-first")
            var pantry = try await home.pantry(first, ["URL": "v1"])
            let before = pantry.resource("config")
            switch former {
            case .loaded: _ = try await before.load()
            case .prefetched: await before.prefetch([[:]]).finished()
            case .kept: await (try await before.keep([[:]])).finished()
            }
            #expect(try await before.load(mode: .cachedOnly).text == "v1")
            let next =
                change == .environment
                ? first.mapValues { $0.replacing("cache-first", with: strategy) }
                : home.policy(#""url": "v2""#, store, strategy)
            if change == .reload {
                try await replace(next, in: pantry, world)
            } else {
                await pantry.close()
                pantry = try await home.pantry(next, ["URL": "v2"])
            }
            let resource = pantry.resource("config")
            // Kept instances may be fetched anew already.
            let shown = try? await resource.load(mode: .cachedOnly).text
            #expect(former == .kept ? shown != "v1" : shown == nil, "\(former), \(strategy)")
            if strategy == "cache-only" {
                let shown = try? await resource.load().text
                #expect(former == .kept ? shown != "v1" : shown == nil, "\(former)")
            } else {
                #expect(try await resource.load().text == "v2", "\(former), \(strategy)")
                #expect(try await resource.load().text == "v2", "\(former), \(strategy)")
            }
            #expect(home.conditions.withLock { $0.filter { !$0.hasPrefix("v2") } } == [], "\(former), \(strategy)")
            await pantry.close()
        }
    }

    @Test(arguments: stores) func deadServiceIsNotReplacedByCopyOfAnother(_ store: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, store, "network-first"))
            _ = try await pantry.resource("config").load()
            try await Self.replace(home.policy(#""url": "dead""#, store, "network-first"), in: pantry, world)
            let error = await failure { try await pantry.resource("config").load() }
            #expect(error?.message == "the service is dead")
            #expect(try await pantry.resource("config").contains() == false)
            #expect(try await pantry.resource("config").list().entries.isEmpty)
            await pantry.close()
        }
    }

    @Test(arguments: stores.dropFirst()) func copyIsUsedAgainWhenItsSourceReturns(_ store: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, store, "cache-first"))
            _ = try await pantry.resource("config").load()
            var events = pantry.events.makeAsyncIterator()
            let changes = try await Self.replace(home.policy(#""url": "v2""#, store, "cache-first"), in: pantry, world)
            // The copies of a store that is not open yet cannot be counted.
            #expect(changes.count == 1 && changes[0].isOtherSource && [1, nil].contains(changes[0].unusedCopies))
            guard case .reloaded(let told)? = await events.next() else {
                Issue.record("no event tells of the change")
                return
            }
            #expect(told == changes)
            var counted = changes[0]
            counted.unusedCopies = nil
            let start = "; the data comes from another source: "
            #expect(counted.description.hasSuffix(start + "copies of the former one are left unused"))
            counted.unusedCopies = await pantry.countUnusedCopies(of: "config")
            #expect(counted.description.hasSuffix(start + "1 copy is left unused"))
            let back = try await Self.replace(home.policy(#""url": "v1""#, store, "cache-only"), in: pantry, world)
            #expect(back.count == 1 && [0, nil].contains(back[0].unusedCopies))
            #expect(try await pantry.resource("config").load().text == "v1")
            await pantry.close()
        }
    }

    @Test(arguments: stores) func copyOfFormerlyNamedURLIsUsed(_ store: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, store, "cache-first"))
            _ = try await pantry.resource("config").load()
            let next = home.policy(#""url": "v2", "formerly": ["v0", "v1"]"#, store, "cache-first")
            let changes = try await Self.replace(next, in: pantry, world)
            #expect(changes.map(\.isOtherSource) == [false])
            #expect(try await pantry.resource("config").load().text == "v1")
            await pantry.close()
        }
    }

    @Test(arguments: [true, false]) func settingThatIdentifiesNothingChangesNoSource(marks: Bool) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world, marks: marks)
            let store = #""memory""#
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, store, "cache-first"))
            _ = try await pantry.resource("config").load()
            let next = home.policy(#""url": "v1", "note": "slower""#, store, "cache-only")
            try await Self.replace(next, in: pantry, world)
            // A plugin that marks no setting may mean any of them.
            let error = await failure { try await pantry.resource("config").load() }
            #expect(error?.code == (marks ? nil : .notCached))
            await pantry.close()
        }
    }

    @Test func keptInstanceIsFetchedAnewFromAnotherSource() throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, Self.stores[2], "cache-first"))
            await (try await pantry.resource("config").keep([[:]])).finished()
            try await Self.replace(home.policy(#""url": "v2""#, Self.stores[2], "cache-first"), in: pantry, world)
            try await world.sleep(for: .seconds(60))
            #expect(try await pantry.resource("config").load(mode: .cachedOnly).text == "v2")
            #expect(home.conditions.withLock { $0 } == [])
            await pantry.close()
        }
    }

    @Test(arguments: stores.dropFirst()) func prefetchedCopyOfFormerURLIsNeverUsed(_ store: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "v1""#, store, "cache-first"))
            #expect(await pantry.resource("config").prefetch([[:]]).finished().done == 1)
            try await Self.replace(home.policy(#""url": "v2""#, store, "cache-first"), in: pantry, world)
            #expect(try await pantry.resource("config").load().text == "v2")
            #expect(home.conditions.withLock { $0 } == [])
            await pantry.close()
        }
    }

    @Test(arguments: stores.dropFirst()) func variantsOfAnotherSourceAreClearedWithTheirKey(_ store: String) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let varied = home.policy(#""url": "varied""#, store, "cache-first")
            let pantry = try await home.pantry(varied)
            let resource = pantry.resource("config")
            for language in ["de", "en"] { _ = try await resource.load(fields: ["language": language]) }
            try await Self.replace(home.policy(#""url": "v2""#, store, "cache-only"), in: pantry, world)
            try await resource.clear([:])
            try await Self.replace(
                varied.mapValues { $0.replacing("cache-first", with: "cache-only") }, in: pantry, world)
            for language in ["de", "en"] {
                let error = await failure { try await resource.load(fields: ["language": language]) }
                #expect(error?.code == .notCached)
            }
            await pantry.close()
        }
    }

    @Test(arguments: [stores[0], stores[2]], [false, true])
    func lateAnswerOfFormerURLReachesNoStream(_ store: String, besideScreen hasScreen: Bool) throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let pantry = try await home.pantry(home.policy(#""url": "slow""#, store, "cache-first"))
            let resource = pantry.resource("config")
            _ = try await resource.load()
            let seen = Locked<[String]>([])
            let following = world.spawn {
                do {
                    for try await update in resource.updates(mode: .cachedOnly) {
                        if case .value(let value) = update { seen.withLock { $0.append(value.text) } }
                    }
                } catch {
                    seen.withLock { $0.append("\(error)") }
                }
            }
            // A screen fetches the new data at once, so that the late answer is also the older one.
            let screen = hasScreen ? resource.live() : nil
            let late = world.spawn { _ = try? await resource.load(mode: .refresh) }
            try await world.sleep(for: .seconds(1))
            try await Self.replace(home.policy(#""url": "v2""#, store, "cache-first"), in: pantry, world)
            await late.value
            #expect(seen.withLock { $0 } == (hasScreen ? ["slow", "v2"] : ["slow"]))
            #expect(try await resource.load().text == "v2")
            try await world.sleep(for: .seconds(20))
            let values = seen.withLock { $0 }
            #expect(values.first == "slow" && Set(values.dropFirst()) == ["v2"], "\(values)")
            if let screen { #expect(screen.phase.value.map { String(decoding: $0, as: UTF8.self) } == "v2") }
            following.cancel()
            await pantry.close()
        }
    }

    @Test func copiesOfEarlierVersionsHaveNoSourceAndAreNotUsed() throws {
        try SimulatedWorld().run { world in
            let home = try Home(world)
            let policies = home.policy(#""url": "v1""#, Self.stores[1], "cache-first")
            let earlier = try await Pantry(
                reader: PolicyReader(registry: home.registry, texts: policies, files: nil, environment: [:]),
                cache: home.folder.url.appending(path: "cache"), world: world, ignoresSources: true)
            _ = try await earlier.resource("config").load()
            await earlier.close()
            let pantry = try await home.pantry(policies)
            #expect(await pantry.countUnusedCopies(of: "config") == 1)
            #expect(try await pantry.resource("config").list().entries.isEmpty)
            #expect(await failure { try await pantry.resource("config").load(mode: .cachedOnly) }?.code == .notCached)
            await pantry.close()
        }
    }

    @Test func formerValuesOfUnknownSettingAreRefused() {
        var registry = Registry.standard
        let origin = Plugin.origin(
            "service", "Imitates a service.",
            Setting("formerly", .list(of: .text), default: [], help: "Former URLs").formerValues(of: "url")
        ) { _, _ in UnusedSide() }
        #expect(throws: Registry.Conflict.self) { try registry.register(origin) }
    }

    @Test func mirrorsAddedOrReorderedKeepTheSource() throws {
        let (a, b) = (#"{ "use": "service", "url": "a" }"#, #"{ "use": "service", "url": "b" }"#)
        func source(_ origin: String) throws -> DataSource {
            let home = try Home(SimulatedWorld())
            let text = #"{ "resource": "config", "origin": \#(origin), "strategy": "network-only" }"#
            let policies = try PolicyReader(
                registry: home.registry, texts: ["config": text], files: nil, environment: [:]
            ).readAll()
            return try #require(policies.first?.source)
        }
        let (alone, both) = (try source(a), try source(#"{ "use": "mirrors", "origins": [\#(a), \#(b)] }"#))
        #expect(alone.own == both.own)
        #expect(try source(#"{ "use": "mirrors", "origins": [\#(b), \#(a)] }"#).contains(both.own))
        #expect(try !source(b).contains(alone.own))
    }

    @Test(arguments: [
        (#""method": "POST""#, false), (#""accept": ["text/plain"]"#, false), (#""limit": "5s""#, true),
        (#""fields": { "authorization": "${TOKEN}" }"#, true), (#""method": "GET""#, true),
    ])
    func sourceOfHTTPIsURLMethodAndAccept(_ setting: String, isSame: Bool) throws {
        func source(_ settings: String) throws -> DataSource? {
            let text = #"""
                { "resource": "config", "origin": { "use": "http", "url": "https://example.com/config" \#(settings) },
                  "strategy": "network-only" }
                """#
            let reader = try PolicyReader(
                registry: .standard, texts: ["config": text], files: nil, environment: ["TOKEN": "secret"])
            return try reader.readAll().first?.source
        }
        #expect((try source("") == source(", " + setting)) == isSame)
    }
}
