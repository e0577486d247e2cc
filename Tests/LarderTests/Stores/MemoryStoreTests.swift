import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

@Suite struct MemoryStoreTests {
    /// Makes a store with room for `count` entries of ten bytes.
    private func store(of count: Int, entries: Int? = nil) -> MemoryStore {
        MemoryStore(capacity: count * (10 + 420), entries: entries, eviction: LRU(), world: SimulatedWorld())
    }

    private let ten = Entry(text: "0123456789")

    @Test func writtenEntryIsFoundAndReplaced() {
        let store = store(of: 5)
        #expect(store.read(Reading(.id("a"))) == nil)
        #expect(store.write(Entry(text: "one"), for: .id("a")))
        #expect(store.write(Entry(text: "two"), for: .id("a")))
        let found = store.read(Reading(.id("a")))
        #expect(
            found?.entry.text == "two" && found?.tier == "memory" && found?.isForeign == false && found?.repair == nil)
        #expect(store.read(Reading(.id("a", scope: "alice"))) == nil)
        #expect(store.statistics() == StoreStatistics(entries: 1, bytes: 3 + 420, hits: 1, misses: 2))
    }

    @Test func leastRecentlyUsedIsEvictedAtByteCapacity() {
        let store = store(of: 3)
        for id in ["a", "b", "c"] { #expect(store.write(ten, for: .id(id))) }
        _ = store.read(Reading(.id("a")))
        #expect(store.write(ten, for: .id("d")))
        #expect(["a", "b", "c", "d"].filter { store.read(Reading(.id($0))) != nil } == ["a", "c", "d"])
        #expect(store.statistics().evictions == 1 && store.statistics().bytes == 3 * 430)
    }

    @Test func leastRecentlyUsedIsEvictedAtEntryLimit() {
        let store = store(of: 100, entries: 2)
        for id in ["a", "b", "a", "c"] { #expect(store.write(ten, for: .id(id))) }
        #expect(["a", "b", "c"].filter { store.read(Reading(.id($0))) != nil } == ["a", "c"])
        #expect(store.statistics().entries == 2 && store.statistics().evictions == 1)
    }

    @Test func entryOfExactlyCapacityIsKeptAndLargerOneIsNot() {
        let store = store(of: 1)
        #expect(store.write(ten, for: .id("a")))
        #expect(store.write(Entry(text: "0123456789x"), for: .id("b")) == false)
        #expect(store.read(Reading(.id("a"))) != nil && store.read(Reading(.id("b"))) == nil)
        #expect(store.statistics().evictions == 0)
        // The existing entry is older than the one that could not be kept, so it must not stay.
        #expect(store.write(Entry(text: "0123456789x"), for: .id("a")) == false)
        #expect(store.read(Reading(.id("a"))) == nil && store.statistics().bytes == 0)
    }

    @Test func refusedPeekLeavesNoTrace() {
        let store = store(of: 2)
        for id in ["a", "b"] { #expect(store.write(ten, for: .id(id))) }
        let before = store.statistics()
        #expect(store.peek(.id("a")) { _ in false } == nil)
        #expect(store.peek(.id("none")) { _ in true } == nil)
        #expect(store.statistics() == before)
        #expect(store.write(ten, for: .id("c")))
        #expect(["a", "b", "c"].filter { store.read(Reading(.id($0))) != nil } == ["b", "c"])
    }

    @Test func acceptedPeekCountsAsUse() {
        let store = store(of: 2)
        for id in ["a", "b"] { #expect(store.write(ten, for: .id(id))) }
        #expect(store.peek(.id("a")) { $0.text == "0123456789" }?.payload === ten.payload)
        #expect(store.statistics().hits == 1)
        #expect(store.write(ten, for: .id("c")))
        #expect(["a", "b", "c"].filter { store.read(Reading(.id($0))) != nil } == ["a", "c"])
    }

    @Test func clearingRemovesOnlySelectedEntries() {
        let keys: [Key] = [.id("a"), .id("b"), .id("a", scope: "alice"), .id("a", scope: ""), .id("a", scope: "bob")]
        func left(after selection: Selection) -> [Int] {
            let store = store(of: 10)
            for key in keys { _ = store.write(ten, for: key) }
            store.remove(selection)
            let left = keys.indices.filter { store.read(Reading(keys[$0])) != nil }
            #expect(store.statistics().entries == left.count && store.statistics().bytes == left.count * 430)
            return left
        }
        #expect(left(after: .key(.id("a"))) == [1, 2, 3, 4])
        #expect(left(after: .scope(nil)) == [2, 3, 4])
        #expect(left(after: .scope("alice")) == [0, 1, 3, 4])
        #expect(left(after: .scope("")) == [0, 1, 2, 4])
        #expect(left(after: .all) == [])
    }

    @Test func storeNoneKeepsNothing() {
        let store = EmptyStore()
        #expect(store.write(ten, for: .id("a")) == false)
        #expect(store.read(Reading(.id("a"))) == nil && store.peek(.id("a")) { _ in true } == nil)
        store.remove(.all)
        #expect(store.statistics() == StoreStatistics())
    }
}
