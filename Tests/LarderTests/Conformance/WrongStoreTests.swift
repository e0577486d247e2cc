import Larder
import LarderSimulation
import Testing

/// Stores that are wrong on purpose: each is caught by the suite of its kind, with the promise it breaks.
@Suite struct WrongStoreTests {
    private static func store(
        _ traits: @escaping @Sendable (inout StoreTraits) -> Void = { _ in }, make: @escaping @Sendable () -> any Store
    ) -> Plugin {
        .store("wrong", "Wrong.", traits: { .with(traits) }) { _ in make() }
    }

    private static let stores: [(String, Promise, Plugin)] = [
        (
            "forgets metadata", .metadata,
            store {
                Spoilt(kept: { entry, _ in Entry(entry.payload.bytes, Metadata(fetchedAt: entry.metadata.fetchedAt)) })
            }
        ),
        (
            "forgets the notes of plugins", .metadata,
            store {
                Spoilt(kept: { entry, _ in
                    var entry = entry
                    entry.metadata.notes = [:]
                    return entry
                })
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
        ("marks nothing", .expires, store { Spoilt(marked: { _, _, _ in false }) }),
        (
            "marks what belongs to others too", .expires,
            store {
                Spoilt(marked: { selection, key, entry in
                    if case .key(let wanted) = selection { return wanted.scope == key.scope }
                    return selection.contains(key, entry)
                })
            }
        ),
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
        (
            "expires nothing by tag", .expires,
            store {
                Spoilt(marked: { selection, key, entry in
                    if case .tag = selection { return false }
                    return selection.contains(key, entry)
                })
            }
        ),
        ("says that it renews what it does not", .renews, store { Spoilt(renewed: { _, old in old }) }),
        (
            "renews another payload", .renews,
            store {
                Spoilt(renewed: { entry, old in
                    var mixed = old
                    mixed.metadata = entry.metadata
                    return mixed
                })
            }
        ),
        (
            "leaves renewed entries expired", .metadata,
            store {
                Spoilt(renewed: { entry, old in
                    var entry = entry
                    entry.metadata.isExpired = old.metadata.isExpired
                    return entry.metadata.isOfSamePayload(as: old.metadata) ? entry : nil
                })
            }
        ),
        ("contains everything", .contains, store { Spoilt(contained: { _ in true }) }),
        ("contains no expired entry", .contains, store { Spoilt(contained: { $0?.metadata.isExpired == false }) }),
        ("lists entries twice", .lists, store { Spoilt(listed: { $0 + $0 }) }),
        ("lists no expired entry", .lists, store { Spoilt(listed: { $0.filter { !$0.metadata.isExpired } }) }),
        (
            "evicts pinned entries", .pins,
            store({ $0.capacity = 8_000 }) { Spoilt(entriesAtMost: 4, honoursPins: false) }
        ),
        (
            "lists no pins", .pins,
            store({ $0.capacity = 8_000 }) {
                Spoilt(
                    entriesAtMost: 4,
                    listed: {
                        $0.map { ListedEntry(key: $0.key, digest: $0.digest, metadata: $0.metadata, size: $0.size) }
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

    @Test(arguments: stores) func defectiveStoreFailsConformance(_ what: String, _ promise: Promise, _ plugin: Plugin) {
        let broken = StoreConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
    }

    @Test func correctStorePassesConformance() {
        #expect(StoreConformance(Self.store { Spoilt() }).brokenPromises() == [])
        let limited = Self.store({ $0.capacity = 8_000 }) { Spoilt(entriesAtMost: 4) }
        #expect(StoreConformance(limited).brokenPromises() == [])
    }

    @Test func foreignStoreThatSharesEntriesFailsConformance() {
        let kept = Spoilt()
        let broken = StoreConformance(Self.store({ $0.isForeign = true }) { kept }).brokenPromises()
        #expect(broken.map(\.promise) == [.renews, .lists, .reopens], "\(broken)")
    }

    @Test func storeThatFailsCannotBeTested() {
        let plugin = Plugin.store("wrong", "Wrong.") { context in
            let store = FaultyStore(world: context.world)
            store.set(.fails, for: .read)
            return store
        }
        #expect(StoreConformance(plugin).brokenPromises().map(\.promise) == [.composes])
    }
}
