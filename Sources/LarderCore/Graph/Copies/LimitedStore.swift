import LarderSystem

/// A store that limits the time of another store's operations. An operation that exceeds the limit fails for its caller
/// and goes on in the background.
///
/// Removing or expiring many entries may take ``selectionLimit`` at least, because it takes longer the more entries there
/// are.
struct LimitedStore: WrappingStore {
    /// The shortest limit of an operation on many entries.
    static let selectionLimit = Duration.seconds(30)

    let wrapped: any Store
    let limit: Duration
    let name: String
    let world: any World

    init(_ store: any Store, limit: Duration, name: String, world: any World) {
        wrapped = store
        self.limit = limit
        self.name = name
        self.world = world
    }

    func read(_ reading: Reading) async throws -> Found? {
        repairingInTime(try await limited { [wrapped] in try await wrapped.read(reading) })
    }

    @inline(never)
    private func repairingInTime(_ found: Found?) -> Found? {
        guard let repair = found?.repair else { return found }
        var found = found
        found?.repair = { entry in try await limited { try await repair(entry) } }
        return found
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        try await limited { [wrapped] in try await wrapped.write(entry, for: key) }
    }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await limited { [wrapped] in try await wrapped.renew(entry, for: key) }
    }

    func expire(_ selection: Selection) async throws {
        try await limited(to: limit(for: selection)) { [wrapped] in try await wrapped.expire(selection) }
    }

    func remove(_ selection: Selection) async throws {
        // A logout is carried out even if the task that asked for it is cancelled.
        let limit = limit(for: selection)
        try await AwaitableWork.limited(to: limit, of: name, in: world, isCancellable: false) { [wrapped] in
            try await wrapped.remove(selection)
        }
    }

    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        try await limited { [wrapped] in try await wrapped.list(after: cursor, most: count) }
    }

    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        try await limited { [wrapped] in try await wrapped.setPinned(isPinned, for: key) }
    }

    private func limit(for selection: Selection) -> Duration {
        if case .key = selection { return limit }
        return max(limit, Self.selectionLimit)
    }

    /// Does `work` within `limit`, by default that of the store.
    private func limited<Value: Sendable>(
        to limit: Duration? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await AwaitableWork.limited(to: limit ?? self.limit, of: name, in: world, work)
    }
}
