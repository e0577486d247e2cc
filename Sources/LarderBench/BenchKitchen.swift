#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

/// A pantry with one resource, whose origin is a closure of the benchmark's.
struct BenchKitchen {
    let resource: Resource<Data>
    let store: any Store
    let pantry: Pantry

    /// - Parameters:
    ///   - strategy: the strategy, in JSON.
    ///   - store: the store, in JSON.
    init(
        strategy: String = #""cache-first""#, store: String = #""memory""#, isMeasured: Bool = true,
        origin: @escaping @Sendable (Call) async throws -> Loaded<Entry> = { _ in BenchKitchen.value }
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/larder-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Disk.makeFolder(folder)
        let policy = """
            { "resource": "feed", "origin": "bench", "strategy": \(strategy),
              "validators": [{ "use": "age", "fresh": "7d" }], "store": { "use": "seen", "of": \(store) },
              "fallbacks": [{ "use": "constant", "value": 1 }] }
            """
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
        try registry.register(
            .strategy(
                "through", "Hands on.", Setting("to", .part(.strategy), help: "Another strategy"),
                make: { sides, part in Through(next: try part.strategy(over: sides)) }))
        try registry.register(.origin("bench", "A closure.") { _ in Origin(answer: origin) })
        pantry = try await Pantry(
            reader: PolicyReader(registry: registry, folder: folder, environment: [:]), cache: nil,
            world: SystemWorld(), isMeasured: isMeasured)
        resource = pantry.resource("feed")
        guard let store = seen.withLock({ $0 }) else { throw LoadError(.failed, "there is no store") }
        self.store = store
    }

    /// A request whose answer is in memory.
    func hit() async throws -> Request {
        let request = resource.request(["id": "42"])
        _ = try await resource.load(request)
        guard resource.answer(request) != nil else { throw LoadError(.failed, "there is no copy") }
        return request
    }

    static var value: Loaded<Entry> {
        Loaded(Entry(bytes, Metadata(fetchedAt: SystemWorld().now)))
    }

    private static let bytes = Data(repeating: 7, count: 1_000)

    private struct Origin: Loader {
        let answer: @Sendable (Call) async throws -> Loaded<Entry>

        func load(_ call: Call) async throws -> Loaded<Entry> { try await answer(call) }
    }

    /// A strategy that does nothing but hand on: for graphs as deep as one likes.
    private struct Through: Loader {
        let next: any Loader

        func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
            next.answer(request, codec: codec, for: uses)
        }

        func load(_ call: Call) async throws -> Loaded<Entry> { try await next.load(call) }
    }
}

/// Keeps the optimiser from leaving out what nobody looks at.
@inline(never) @_optimize(none)
func keep<Value>(_ value: borrowing Value) {}
