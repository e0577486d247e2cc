import LarderFoundation
import LarderSystem
import Larder

/// A hand-written graph for one resource: decorators and a fallback around the same store. Each does the least that the
/// composed graph does, and reports nothing.
protocol HandWired: Sendable {
    func value(of key: Key) -> Data?
}

enum HandWiring {
    /// A graph with as many layers as the composed graph.
    static func graph(over store: any Store) -> any HandWired {
        let looking = Looking(store: store, world: SystemWorld(), fresh: .seconds(7 * 86_400))
        return Counting(inner: Falling(first: Choosing(cached: looking)))
    }

    private struct Looking: HandWired {
        let store: any Store
        let world: any World
        let fresh: Duration

        func value(of key: Key) -> Data? {
            let now = world.now
            return store.peek(key) { $0.metadata.age(at: now) < fresh }?.payload.bytes
        }
    }

    private struct Choosing: HandWired {
        let cached: any HandWired

        func value(of key: Key) -> Data? { cached.value(of: key) }
    }

    private struct Falling: HandWired {
        let first: any HandWired

        func value(of key: Key) -> Data? { first.value(of: key) ?? Data("1".utf8) }
    }

    private struct Counting: HandWired {
        let inner: any HandWired
        let hits = Locked(0)

        func value(of key: Key) -> Data? {
            let value = inner.value(of: key)
            if value != nil { hits.withLock { $0 += 1 } }
            return value
        }
    }
}
