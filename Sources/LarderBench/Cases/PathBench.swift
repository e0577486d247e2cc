import LarderFoundation
import LarderSystem
import Larder

/// The cost of a load beside the cost of its parts: hits with metrics and without, misses, and shared calls.
enum PathBench {
    static func figures(_ harness: Harness) async throws -> [Figure] {
        try await hits(harness) + misses(harness) + shared(harness)
    }

    /// A hit through handle, measured, fallback, strategy and lookup with its validators, beside the bare store.
    private static func hits(_ harness: Harness) async throws -> [Figure] {
        let cases = try await HitCases()
        let (bench, measured, request) = (cases.bench, cases.bench.resource, cases.request)
        var figures = try await harness.compare(
            "path",
            [
                Case("bare store, peek", cases.bareStore), Case("a clock read", cases.clock),
                Case("hand-wired layers", cases.handWired), Case("composed hit, metrics off", cases.unmeasured),
                Case("composed hit", cases.composed),
                Case("composed hit, awaited") { count in
                    for _ in 0..<count { keep(try await measured.load(request)) }
                },
                Case("composed hit, awaited, of a new request") { count in
                    for _ in 0..<count { keep(try await measured.load(["id": "42"])) }
                },
                Case("composed hit, awaited from the main actor") { count in
                    try await onMain(measured, request: request, count: count)
                },
                Case("composed hit, somebody listening") { count in
                    let decisions = bench.pantry.decisions
                    for _ in 0..<count { keep(measured.answer(request)) }
                    withExtendedLifetime(decisions) {}
                },
                Case("recording a hit, by itself", cases.metrics),
            ])
        func median(_ name: String) -> Double? { figures.first { $0.name == name }?.median }
        func difference(_ name: String, more: String, less: String, goal: Double) {
            guard let more = median(more), let less = median(less) else { return }
            figures.append(Figure(group: "path", name: name, median: more - less, goal: goal))
        }
        difference("composed hit − bare store", more: "composed hit", less: "bare store, peek", goal: 55)
        difference("metrics on a composed hit", more: "composed hit", less: "composed hit, metrics off", goal: 15)
        return figures
    }

    @MainActor private static func onMain(_ resource: Resource<Data>, request: Request, count: Int) async throws {
        for _ in 0..<count { keep(try await resource.load(request)) }
    }

    /// A load that asks an origin, beside asking the origin directly. The origin answers at once.
    private static func misses(_ harness: Harness) async throws -> [Figure] {
        let bare = BenchPantry.answer
        let through = try await BenchPantry(strategy: #""network-only""#, origin: bare)
        let (saving, requests) = try await BenchPantry.missing()
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

    /// The cost of each of several loads that share one call.
    private static func shared(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        for waiters in [2, 10, 100, 1_000] {
            let joined = Locked((wanted: 0, feed: Resource<Data>?.none))
            let bench = try await BenchPantry(strategy: #""network-only""#) { _ in
                // Until every load but the first has joined.
                let (wanted, feed) = joined.withLock { $0 }
                while let feed, feed.metrics[.coalesced] < UInt64(wanted) { await Task.yield() }
                return BenchPantry.value
            }
            let feed = bench.resource
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
                // The case made one load for each waiter.
                (figure.median, figure.least) = (figure.median / Double(waiters), nil)
                figure.ratio = nil
                return figure
            }
        }
        return figures
    }
}
