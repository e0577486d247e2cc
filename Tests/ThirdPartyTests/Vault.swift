import Foundation
import Larder
import Synchronization

import LarderFoundation

/// A store that locks its folder for itself while it is open, as many databases do. Opening it twice fails.
final class Vault: Store {
    /// Records the vaults of a test.
    final class Journal: Sendable {
        struct State {
            /// The number of vaults that are open now and were open at most, by the path of their folder.
            var open: [String: Int] = [:]
            var most: [String: Int] = [:]
            var opened = 0
            var closed = 0
            /// The number of vaults that were released without having been closed.
            var forgotten = 0
            /// The errors of the next openings.
            var failures: [StoreError] = []
            var closing: [String: Duration] = [:]
            var writing: [String: Duration] = [:]
        }

        private let state = Mutex(State())
        /// An element for each vault that was closed.
        let closings: AsyncStream<Void>
        private let closing: AsyncStream<Void>.Continuation
        /// An element for each vault that was opened.
        let openings: AsyncStream<Void>
        fileprivate let opening: AsyncStream<Void>.Continuation

        init() {
            (closings, closing) = AsyncStream<Void>.makeStream()
            (openings, opening) = AsyncStream<Void>.makeStream()
        }

        func closed(_ place: String) {
            note { state in
                state.open[place, default: 0] -= 1
                state.closed += 1
            }
            closing.yield()
        }

        var now: State { state.withLock { $0 } }

        var isAnyOpen: Bool { now.open.values.contains { $0 > 0 } }

        func note(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    }

    private let place: StorePlace
    private let world: any World
    private let journal: Journal
    /// The descriptor of the lock; nil when the vault is closed.
    private let lock: Mutex<Int32?>
    private let resource: String

    init(place: StorePlace, of resource: String, world: any World, journal: Journal) throws {
        let failure = journal.now.failures.first
        journal.note { $0.failures = Array($0.failures.dropFirst()) }
        if let failure { throw failure }
        let descriptor = open(place.path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError("the lock cannot be made") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            shut(descriptor)
            throw StoreError("another vault is open in this place")
        }
        self.place = place
        self.world = world
        self.journal = journal
        self.resource = resource
        lock = Mutex(descriptor)
        journal.note { state in
            state.opened += 1
            let now = (state.open[place.path] ?? 0) + 1
            state.open[place.path] = now
            state.most[place.path] = max(state.most[place.path] ?? 0, now)
        }
        journal.opening.yield()
    }

    deinit {
        if lock.withLock({ $0 }) != nil { journal.note { $0.forgotten += 1 } }
    }

    func close() async {
        if let time = journal.now.closing[resource] { try? await world.sleep(for: time) }
        let descriptor = lock.withLock { lock in
            defer { lock = nil }
            return lock
        }
        guard let descriptor else { return journal.note { $0.forgotten += 100 } }
        shut(descriptor)
        journal.closed(place.path)
    }

    func read(_ reading: Reading) async throws -> Found? {
        try await world.blocking { [self] in
            try check()
            guard let bytes = try? Data(contentsOf: file(of: reading.key)),
                let entry = try Entry(encoded: Array(bytes), for: reading.key)
            else { return nil }
            return Found(entry, tier: "vault", isForeign: true)
        }
    }

    func write(_ entry: Entry, for key: Key) async throws -> Bool {
        if let time = journal.now.writing[resource] { try await world.sleep(for: time) }
        return try await world.blocking { [self] in
            try check()
            try Data(entry.encoded(for: key)).write(to: file(of: key))
            return true
        }
    }

    func remove(_ selection: Selection) async throws {
        try await world.blocking { [self] in
            try check()
            for name in try FileManager.default.contentsOfDirectory(atPath: place.path) where name != "lock" {
                let isMeant =
                    switch selection {
                    case .key(let key): name == file(of: key).lastPathComponent
                    case .scope(let scope): name.hasPrefix(prefix(of: scope))
                    case .tag, .all: true
                    }
                if isMeant { try FileManager.default.removeItem(atPath: place.path + "/" + name) }
            }
        }
    }

    func statistics() async -> StoreStatistics {
        let names = try? FileManager.default.contentsOfDirectory(atPath: place.path)
        return StoreStatistics(entries: (names?.count ?? 1) - 1)
    }

    /// Nothing may use a vault that is closed.
    private func check() throws {
        if lock.withLock({ $0 }) == nil {
            journal.note { $0.forgotten += 10_000 }
            throw StoreError("the vault is closed")
        }
    }

    private func file(of key: Key) -> URL {
        URL(filePath: place.path).appending(path: prefix(of: key.scope) + key.digest)
    }

    private func prefix(of scope: String?) -> String { Key(resource: "scope", scope: scope).digest + "-" }
}

private func shut(_ descriptor: Int32) { _ = close(descriptor) }

extension Plugin {
    /// Vaults in the place `vault` of each resource. The setting `edition` makes another declaration of the same store.
    static func vault(_ journal: Vault.Journal) -> Plugin {
        .store(
            "vault", "Keeps entries in a folder that it locks.",
            Setting("edition", .int(0...1_000_000), default: 0, help: "Any number"),
            traits: { _ in
                .with {
                    $0.isForeign = true
                    $0.writesTo = "vault"
                }
            }
        ) { context, edition in
            if edition == 999 { throw StoreError("the edition is bad") }
            return try Vault(
                place: try context.place("vault"), of: context.resource, world: context.world, journal: journal)
        }
    }
}
