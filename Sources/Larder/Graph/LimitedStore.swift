/// Gives up on a store's operations that take too long: they count as failed, and end when they end.
struct LimitedStore: Store {
    let store: any Store
    let limit: Duration
    let name: String
    let world: any World

    init(_ store: any Store, limit: Duration, name: String, world: any World) {
        self.store = store
        self.limit = limit
        self.name = name
        self.world = world
    }

    func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? { store.peek(key, if: accept) }

    var nearest: String { store.nearest }

    func read(_ key: Key) async throws -> Found? {
        try await limited { [store] in try await store.read(key) }
    }

    func read(_ key: Key, below found: Found) async throws -> Found? {
        try await limited { [store] in try await store.read(key, below: found) }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await limited { [store] in try await store.write(entry, for: key) }
    }

    func promote(_ found: Found, for key: Key) async throws {
        try await limited { [store] in try await store.promote(found, for: key) }
    }

    func expire(_ key: Key) async throws {
        try await limited { [store] in try await store.expire(key) }
    }

    func remove(_ selection: Selection) async throws {
        try await limited { [store] in try await store.remove(selection) }
    }

    func relieve() { store.relieve() }

    func statistics() async -> StoreStatistics {
        await store.statistics()
    }

    private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let rest = Unfinished()
        let pursuit = Pursuit(in: world, work) { _ in rest.end() }
        guard let value = try await pursuit.value(within: limit) else {
            let error = StoreError("no answer within \(limit.brief)")
            var failure = StoreError(error.message, faults: [StoreFault(tier: name, error: error)])
            failure.unfinished = [rest]
            throw failure
        }
        return value
    }
}
