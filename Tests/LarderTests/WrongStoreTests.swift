import Larder
import LarderSimulation
import Testing

/// Stores that are wrong on purpose: each is caught by the suite of its kind, with the promise it breaks.
@Suite struct WrongStoreTests {
    /// A sound store in memory, which can be spoilt in one way or another.
    private struct Spoilt: Store {
        private struct State {
            var entries: [String: (key: Key, entry: Entry)] = [:]
            var first: [String: Entry] = [:]
            var statistics = StoreStatistics()
        }

        var isForeign = false
        var place: @Sendable (Key) -> String = { $0.text }
        var kept: @Sendable (Entry, _ old: Entry?) -> Entry? = { entry, _ in entry }
        var isMeant: @Sendable (Selection, Key, Entry) -> Bool = { $0.contains($1, $2) }
        var limit = Int.max
        var peeksFirst = false
        var peeksUnwanted = false
        var countsPeeks = false
        var counts = true
        var marked: @Sendable (Key, _ wanted: Key) -> Bool = { $0 == $1 }
        private let state = Locked(State())

        func peek(_ key: Key, if accept: (Entry) -> Bool) -> Entry? {
            if isForeign, !peeksUnwanted { return nil }
            return state.withLock { state in
                let entry = peeksFirst ? state.first[place(key)] : state.entries[place(key)]?.entry
                guard let entry else { return nil }
                if countsPeeks { state.statistics.hits += 1 }
                guard accept(entry) || peeksUnwanted else { return nil }
                state.statistics.hits += 1
                return entry
            }
        }

        func read(_ key: Key) -> Found? {
            state.withLock { state in
                guard let entry = state.entries[place(key)]?.entry else {
                    state.statistics.misses += 1
                    return nil
                }
                state.statistics.hits += 1
                return Found(entry, tier: "wrong", isForeign: isForeign)
            }
        }

        func write(_ entry: Entry, for key: Key) -> Bool {
            state.withLock { state in
                let place = place(key)
                guard let entry = kept(entry, state.entries[place]?.entry) else { return true }
                state.first[place] = state.first[place] ?? entry
                state.entries[place] = (key, entry)
                if state.entries.count > limit, let other = state.entries.keys.first(where: { $0 != place }) {
                    state.entries[other] = nil
                }
                return true
            }
        }

        func expire(_ key: Key) {
            state.withLock { state in
                for (place, kept) in state.entries where marked(kept.key, key) {
                    state.entries[place]?.entry.metadata.isExpired = true
                }
            }
        }

        func remove(_ selection: Selection) {
            state.withLock { state in
                state.entries = state.entries.filter { !isMeant(selection, $0.value.key, $0.value.entry) }
                state.first = state.first.filter { state.entries[$0.key] != nil }
            }
        }

        func statistics() -> StoreStatistics {
            state.withLock { state in
                guard counts else { return StoreStatistics() }
                var statistics = state.statistics
                statistics.entries = state.entries.count
                statistics.bytes = state.entries.values.reduce(0) { $0 + $1.entry.weight }
                return statistics
            }
        }
    }

    private static func store(
        _ traits: @escaping @Sendable (inout Traits) -> Void = { _ in }, make: @escaping @Sendable () -> any Store
    ) -> Plugin {
        .store("wrong", "Wrong.", traits: { Traits().with(traits) }) { _ in make() }
    }

    private static let stores: [(String, Promise, Plugin)] = [
        (
            "forgets metadata", .metadata,
            store {
                Spoilt(kept: { entry, _ in Entry(entry.payload.bytes, Metadata(fetchedAt: entry.metadata.fetchedAt)) })
            }
        ),
        (
            "forgets that a copy was validated again", .metadata,
            store { Spoilt(kept: { entry, old in old?.payload === entry.payload ? old : entry }) }
        ),
        ("keeps the older entry", .replaces, store { Spoilt(kept: { entry, old in old ?? entry }) }),
        (
            "says that it keeps what it does not", .readsWrites,
            store { Spoilt(kept: { entry, _ in entry.payload.bytes.isEmpty ? nil : entry }) }
        ),
        ("forgets without saying so", .readsWrites, store { Spoilt(limit: 3) }),
        (
            "cuts payloads short", .readsWrites,
            store { Spoilt(kept: { entry, _ in Entry(entry.payload.bytes.prefix(100), entry.metadata) }) }
        ),
        (
            "removes every account for one", .removes,
            store {
                Spoilt(isMeant: { selection, key, entry in
                    if case .scope(.some) = selection { return key.scope != nil }
                    return selection.contains(key, entry)
                })
            }
        ),
        (
            "removes nothing by tag", .removes,
            store {
                Spoilt(isMeant: { selection, key, entry in
                    if case .tag = selection { return false }
                    return selection.contains(key, entry)
                })
            }
        ),
        ("keeps removed keys", .removes, store { Spoilt(isMeant: { selection, _, _ in selection == .all }) }),
        (
            "mixes accounts", .keys,
            store { Spoilt(place: { String($0.text.drop { $0 != "?" }) }) }
        ),
        ("marks nothing", .expires, store { Spoilt(marked: { _, _ in false }) }),
        ("marks what belongs to others too", .expires, store { Spoilt(marked: { $0.scope == $1.scope }) }),
        (
            "keeps the mark of what it writes anew", .expires,
            store {
                Spoilt(kept: { entry, old in
                    var entry = entry
                    entry.metadata.isExpired = old?.metadata.isExpired ?? false
                    return entry
                })
            }
        ),
        ("mixes keys that differ in case", .keys, store { Spoilt(place: { $0.text.lowercased() }) }),
        ("peeks something else than it reads", .peek, store { Spoilt(peeksFirst: true) }),
        ("peeks what is not wanted", .peek, store { Spoilt(peeksUnwanted: true) }),
        ("counts refused peeks", .peek, store { Spoilt(countsPeeks: true) }),
        ("overruns its capacity", .capacity, store({ $0.capacity = 10_000 }) { Spoilt() }),
        ("keeps entries for too long", .capacity, store({ $0.keepsFor = .seconds(3_600) }) { Spoilt() }),
        ("counts nothing", .statistics, store { Spoilt(counts: false) }),
        (
            "loses everything when it is closed", .reopens,
            store({ $0.isForeign = true }) { Spoilt(isForeign: true) }
        ),
    ]

    @Test(arguments: stores) func aWrongStoreIsCaught(_ what: String, _ promise: Promise, _ plugin: Plugin) {
        let broken = StoreConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
    }

    @Test func aStoreThatIsNotSpoiltIsNotCaught() {
        #expect(StoreConformance(Self.store { Spoilt() }).brokenPromises() == [])
    }

    @Test func aStoreThatKeepsItsEntriesAndCallsThemItsOwnIsCaught() {
        let kept = Spoilt()
        let broken = StoreConformance(Self.store({ $0.isForeign = true }) { kept }).brokenPromises()
        #expect(broken.map(\.promise) == [.reopens], "\(broken)")
    }

    @Test func aStoreThatFailsCannotBeUsed() {
        let plugin = Plugin.store("wrong", "Wrong.") { context in
            let store = FaultyStore(world: context.world)
            store.set(.fails, for: .read)
            return store
        }
        #expect(StoreConformance(plugin).brokenPromises().map(\.promise) == [.composes])
    }
}
