import LarderFoundation
import Larder
import LarderSystem

/// A hit through handle, measured, fallback, strategy and lookup with its validators, and the parts it is made of. Each
/// method does its work `count` times.
struct HitCases: Sendable {
    let bench: BenchPantry
    let request: Request
    let key: Key
    private let store: any Store
    private let plain: Resource<Data>
    private let plainRequest: Request
    private let world = SystemWorld()
    private let meter: Meter
    private let copy: CopyFacts
    private let wired: any HandWired

    init() async throws {
        bench = try await BenchPantry()
        let unmeasured = try await BenchPantry(isMeasured: false)
        (request, plainRequest) = (try await bench.hit(), try await unmeasured.hit())
        (key, store, plain) = (request.key, bench.store, unmeasured.resource)
        guard let entry = store.peek(request.key, if: { _ in true }) else {
            throw LoadError(.failed, "there is no copy")
        }
        meter = Meter(world: world)
        copy = Loaded(entry, from: .store("memory"), age: .seconds(1)).copyFacts
        wired = HandWiring.graph(over: store)
    }

    @Sendable func bareStore(_ count: Int) {
        let (store, key) = (store, key)
        for _ in 0..<count { keep(store.peek(key) { _ in true }) }
    }

    @Sendable func clock(_ count: Int) {
        let world = world
        for _ in 0..<count { keep(world.now) }
    }

    @Sendable func handWired(_ count: Int) {
        let (wired, key) = (wired, key)
        for _ in 0..<count { keep(wired.value(of: key)) }
    }

    @Sendable func unmeasured(_ count: Int) {
        let (plain, request) = (plain, plainRequest)
        for _ in 0..<count { keep(plain.answer(request)) }
    }

    @Sendable func composed(_ count: Int) {
        let (resource, request) = (bench.resource, request)
        for _ in 0..<count { keep(resource.answer(request)) }
    }

    @Sendable func metrics(_ count: Int) {
        let (meter, copy) = (meter, copy)
        for _ in 0..<count { meter.hit(copy, hash: 42) }
    }
}
