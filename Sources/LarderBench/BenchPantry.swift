import LarderFoundation
import LarderSystem
import Larder

/// A pantry with one resource whose origin is a closure.
struct BenchPantry: Sendable {
    let resource: Resource<Data>
    let store: any Store
    let pantry: Pantry

    /// - Parameters:
    ///   - strategy: the strategy, in JSON.
    ///   - store: the store, in JSON.
    ///   - cache: the folder of a store on a disk.
    init(
        strategy: String = #""cache-first""#, store: String = #""memory""#, cache: URL? = nil, isMeasured: Bool = true,
        origin: @escaping @Sendable (Call) async throws -> Loaded<Entry> = { _ in BenchPantry.value }
    ) async throws {
        let policy = """
            { "resource": "feed", "origin": "bench", "strategy": \(strategy),
              "validators": [{ "use": "age", "fresh": "7d" }], "store": { "use": "seen", "of": \(store) },
              "fallbacks": [{ "use": "constant", "value": 1 }] }
            """
        let seen = Locked<(any Store)?>(nil)
        var registry = Registry.standard
        try registry.register(
            .store("seen", "Shows the store it is made of.", Setting("of", .part(.store), help: "The store")) {
                context, part in
                let store = try part.store(in: context)
                seen.withLock { $0 = store }
                return store
            })
        try registry.register(.origin("bench", "A closure.") { _ in Origin(answer: origin) })
        pantry = try await Pantry(
            reader: PolicyReader(registry: registry, texts: ["feed": policy], files: nil, environment: [:]),
            cache: cache, ifCacheUnusable: .fail, world: SystemWorld(), isMeasured: isMeasured)
        resource = pantry.resource("feed")
        guard let store = seen.withLock({ $0 }) else { throw LoadError(.failed, "there is no store") }
        self.store = store
    }

    /// Loads an instance into memory and returns a request for it.
    func hit() async throws -> Request {
        let request = resource.request(["id": "42"])
        _ = try await resource.load(request)
        guard resource.answer(request) != nil else { throw LoadError(.failed, "there is no copy") }
        return request
    }

    /// Returns a pantry whose loads miss and save, and the requests for it. A request comes again only after its entry was
    /// evicted.
    static func missing() async throws -> (BenchPantry, requests: [Request]) {
        let saving = try await BenchPantry(store: #"{ "use": "memory", "entries": 16 }"#, origin: answer)
        return (saving, (0..<1_024).map { saving.resource.request(["id": "\($0)"]) })
    }

    /// The closure of an origin that answers at once.
    static let answer: @Sendable (Call) async throws -> Loaded<Entry> = { _ in value }

    static var value: Loaded<Entry> {
        Loaded(Entry(bytes, Metadata(fetchedAt: SystemWorld().now)))
    }

    private static let bytes = Data(repeating: 7, count: 1_000)

    private struct Origin: Loader {
        let answer: @Sendable (Call) async throws -> Loaded<Entry>

        func load(_ call: Call) async throws -> Loaded<Entry> { try await answer(call) }
    }
}

/// Keeps the optimiser from removing work whose result is not used.
@inline(never) @_optimize(none)
func keep<Value>(_ value: borrowing Value) {}
