#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// What a load costs beside what it is made of: hits by depth, with metrics and without; misses; calls that are shared.
enum PathBench {
    static func figures(_ harness: Harness) async throws -> [Figure] {
        try await hits(harness) + deep(harness) + misses(harness) + shared(harness)
    }

    /// A hit through handle, measured, fallback, strategy and lookup with its validators, beside the bare store.
    private static func hits(_ harness: Harness) async throws -> [Figure] {
        let kitchen = try await BenchKitchen()
        let unmeasured = try await BenchKitchen(isMeasured: false)
        let (request, other) = (try await kitchen.hit(), try await unmeasured.hit())
        let (store, key) = (kitchen.store, request.key)
        let (measured, plain) = (kitchen.resource, unmeasured.resource)
        guard let entry = store.peek(key, if: { _ in true }) else { throw LoadError(.failed, "there is no copy") }
        let world = SystemWorld()
        let meter = Meter(world: world)
        let hit = Loaded(entry, from: .store("memory"), age: .seconds(1)).account.facts
        let copy = entry.facts
        let wired = HandWiring.graph(over: store)
        var figures = try await harness.compare(
            "path",
            [
                Case("bare store, peek") { count in
                    for _ in 0..<count { keep(store.peek(key) { _ in true }) }
                },
                Case("a clock read") { count in for _ in 0..<count { keep(world.now) } },
                Case("hand-wired layers") { count in for _ in 0..<count { keep(wired.value(of: key)) } },
                Case("composed hit, metrics off") { count in
                    for _ in 0..<count { keep(plain.answer(other)) }
                },
                Case("composed hit") { count in for _ in 0..<count { keep(measured.answer(request)) } },
                Case("composed hit, awaited") { count in
                    for _ in 0..<count { keep(try await measured.load(request)) }
                },
                Case("composed hit, awaited from the main actor") { count in
                    try await onMain(measured, request, count)
                },
                Case("composed hit, somebody listening") { count in
                    let decisions = kitchen.pantry.decisions
                    for _ in 0..<count { keep(measured.answer(request)) }
                    withExtendedLifetime(decisions) {}
                },
                Case("recording a hit, by itself") { count in
                    for _ in 0..<count { meter.hit(hit, copy, hash: 42) }
                },
            ])
        func median(_ name: String) -> Double? { figures.first { $0.name == name }?.median }
        func difference(_ name: String, _ more: String, _ less: String, goal: Double) {
            guard let more = median(more), let less = median(less) else { return }
            figures.append(Figure(group: "path", name: name, median: more - less, goal: goal))
        }
        difference("composed hit − bare store", "composed hit", "bare store, peek", goal: 55)
        difference("metrics on a composed hit", "composed hit", "composed hit, metrics off", goal: 15)
        return figures
    }

    @MainActor private static func onMain(_ resource: Resource<Data>, _ request: Request, _ count: Int) async throws {
        for _ in 0..<count { keep(try await resource.load(request)) }
    }

    /// A hit through more layers, of a strategy that only hands on.
    private static func deep(_ harness: Harness) async throws -> [Figure] {
        var cases: [Case] = []
        for depth in [0, 1, 5, 10, 20] {
            let strategy = (0..<depth).reduce(#""cache-first""#) { inner, _ in #"{ "use": "through", "to": \#(inner) }"#
            }
            let kitchen = try await BenchKitchen(strategy: strategy)
            let request = try await kitchen.hit()
            cases.append(
                Case("\(depth) layers more") { count in
                    for _ in 0..<count { keep(kitchen.resource.answer(request)) }
                })
        }
        return try await harness.compare("path, by depth", cases)
    }

    /// A load that has to ask an origin which answers at once, beside asking it.
    private static func misses(_ harness: Harness) async throws -> [Figure] {
        let bare: @Sendable (Call) async throws -> Loaded<Entry> = { _ in BenchKitchen.value }
        let through = try await BenchKitchen(strategy: #""network-only""#, origin: bare)
        // Requests come round again when their entries are long forgotten.
        let saving = try await BenchKitchen(store: #"{ "use": "memory", "entries": 16 }"#, origin: bare)
        let requests = (0..<1_024).map { saving.resource.request(["id": "\($0)"]) }
        return try await harness.compare(
            "path, miss",
            [
                Case("the origin's closure") { count in
                    for number in 0..<count { keep(try await bare(Call(requests[number & 1_023]))) }
                },
                Case("network-only") { count in
                    for number in 0..<count { keep(try await through.resource.load(requests[number & 1_023])) }
                },
                Case("cache-first, miss and save") { count in
                    for number in 0..<count { keep(try await saving.resource.load(requests[number & 1_023])) }
                },
            ])
    }

    /// Loads of one instance at the same time, which share one call: the cost of each.
    private static func shared(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        for waiters in [2, 10, 100, 1_000] {
            let joined = Locked((wanted: 0, feed: Resource<Data>?.none))
            let kitchen = try await BenchKitchen(strategy: #""network-only""#) { _ in
                // Until all but the first have joined.
                let (wanted, feed) = joined.withLock { $0 }
                while let feed, feed.metrics[.coalesced] < UInt64(wanted) { await Task.yield() }
                return BenchKitchen.value
            }
            let feed = kitchen.resource
            let request = feed.request()
            let times = try await harness.compare(
                "path, \(waiters) waiters",
                [
                    Case("a load that shares a call") { count in
                        for _ in 0..<count {
                            let before = Int(feed.metrics[.coalesced])
                            joined.withLock { $0 = (before + waiters - 1, feed) }
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for _ in 0..<waiters { group.addTask { keep(try await feed.load(request)) } }
                                try await group.waitForAll()
                            }
                        }
                        joined.withLock { $0.feed = nil }
                    }
                ])
            figures += times.map { figure in
                var figure = figure
                // Each case was as many loads as there are waiters.
                (figure.median, figure.least) = (figure.median / Double(waiters), nil)
                figure.ratio = nil
                return figure
            }
        }
        return figures
    }
}
