import LarderFoundation
import LarderSystem
import Larder

/// A pantry with one resource whose origin is a closure.
struct BenchPantry: Sendable {
    /// The numbers of layers that are measured.
    static let depths = [0, 1, 5, 10, 20]

    let resource: Resource<Data>
    let store: any Store
    let pantry: Pantry

    /// Creates a pantry whose strategy stands below `depth` layers that only pass calls on.
    init(depth: Int) async throws {
        let strategy = (0..<depth).reduce(#""cache-first""#) { inner, _ in
            #"{ "use": "through", "to": \#(inner) }"#
        }
        try await self.init(strategy: strategy)
    }

    /// - Parameters:
    ///   - strategy: the strategy, in JSON.
    ///   - store: the store, in JSON.
    init(
        strategy: String = #""cache-first""#, store: String = #""memory""#, isMeasured: Bool = true,
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
        try registry.register(
            .strategy(
                "through", "Hands on.", Setting("to", .part(.strategy), help: "Another strategy"),
                make: { sides, part in Through(next: try part.strategy(over: sides)) }))
        try registry.register(.origin("bench", "A closure.") { _ in Origin(answer: origin) })
        pantry = try await Pantry(
            reader: PolicyReader(registry: registry, texts: ["feed": policy], files: nil, environment: [:]), cache: nil,
            world: SystemWorld(), isMeasured: isMeasured)
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

    /// A strategy that only passes calls on, for graphs of any depth.
    private struct Through: Loader {
        let next: any Loader

        func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
            next.answer(request, codec: codec, for: uses)
        }

        func load(_ call: Call) async throws -> Loaded<Entry> { try await next.load(call) }
    }
}

/// Keeps the optimiser from removing work whose result is not used.
@inline(never) @_optimize(none)
func keep<Value>(_ value: borrowing Value) {}
