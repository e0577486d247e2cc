#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// What a hit costs, from the bare store to the whole graph.
enum PathBench {
    static func figures(_ harness: Harness) async throws -> [Figure] {
        let kitchen = try await BenchKitchen(isMeasured: true)
        let unmeasured = try await BenchKitchen(isMeasured: false)
        let key = kitchen.request.key
        let store = kitchen.store
        let (measured, plain) = (kitchen.resource, unmeasured.resource)
        let (request, other) = (kitchen.request, unmeasured.request)
        let world = SystemWorld()
        let meter = Meter(world: world)
        let age = world.now - kitchen.entry.metadata.fetchedAt
        let hit = Loaded(kitchen.entry, from: .store("memory"), age: age).account.facts
        let copy = kitchen.entry.facts
        return try await harness.compare(
            "path",
            [
                Case("bare store, peek") { count in
                    for _ in 0..<count { keep(store.peek(key) { _ in true }) }
                },
                Case("a clock read") { count in for _ in 0..<count { keep(world.now) } },
                Case("recording a hit, by itself", goal: 15) { count in
                    for _ in 0..<count { meter.hit(hit, copy, hash: 42) }
                },
                Case("composed hit, metrics off") { count in
                    for _ in 0..<count { keep(try await plain.load(other)) }
                },
                Case("composed hit, metrics on") { count in
                    for _ in 0..<count { keep(try await measured.load(request)) }
                },
                Case("composed hit, metrics and log on") { count in
                    let decisions = kitchen.decisions
                    for _ in 0..<count { keep(try await measured.load(request)) }
                    withExtendedLifetime(decisions) {}
                },
                Case("composed hit, from the main actor") { count in
                    try await onMain(measured, request, count)
                },
            ])
    }

    @MainActor private static func onMain(_ resource: Resource<Data>, _ request: Request, _ count: Int) async throws {
        for _ in 0..<count { keep(try await resource.load(request)) }
    }
}

/// A pantry whose only resource is in memory.
struct BenchKitchen {
    let resource: Resource<Data>
    let request: Request
    let store: any Store
    let entry: Entry
    private let pantry: Pantry

    /// Somebody who wants to hear what is not plain.
    var decisions: AsyncStream<Decision> { pantry.decisions }

    init(isMeasured: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/larder-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Disk.makeFolder(folder)
        let policy = #"""
            { "resource": "feed", "origin": { "use": "sample", "payload": "feed", "latency": "1ms", "slowest": "1ms" }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "7d" }], "store": { "use": "seen", "of": "memory" },
              "fallbacks": [{ "use": "constant", "value": 1 }] }
            """#
        try Disk.replace(folder + "/feed.json", with: [Array(policy.utf8)])
        let seen = Locked<(any Store)?>(nil)
        var registry = Registry.standard
        try registry.register(
            .store("seen", "Shows the store it is made of.", Setting("of", .part(.store), help: "The store")) {
                context, part in
                let store = try part.store(in: context)
                seen.withLock { $0 = store }
                return store
            })
        pantry = try await Pantry(
            reader: PolicyReader(registry: registry, folder: folder, environment: [:]), cache: nil,
            world: SystemWorld(), isMeasured: isMeasured)
        resource = pantry.resource("feed")
        request = resource.request(["id": "42"])
        _ = try await resource.load(request)
        guard let store = seen.withLock({ $0 }) else { throw LoadError(.failed, "there is no store") }
        guard let entry = store.peek(request.key, if: { _ in true }) else {
            throw LoadError(.failed, "there is no copy")
        }
        self.store = store
        self.entry = entry
    }
}

/// Keeps the optimiser from leaving out what nobody looks at.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}
