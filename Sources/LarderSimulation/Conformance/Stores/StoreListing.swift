import LarderFoundation
import Larder

/// Checks of lists and pins.
extension StoreConformance {
    func checkLists(_ findings: inout BrokenPromises) {
        check("entries of several accounts are listed page by page", findings: &findings) { trial in
            try await trial.fill()
            try await trial.remove(.key(TestedPlugin.key(["id": "1"], scope: "a")))
            try await trial.expireIfPossible(.key(TestedPlugin.key(["id": "2"], scope: "a")))
            for count in [1, 4, 1_000] {
                guard let listed = try await trial.listed(count) else { return }
                var left: [String: Key] = [:]
                for key in trial.model.keys where try await trial.store.read(key) != nil { left[key.digest] = key }
                for one in listed {
                    guard let key = left.removeValue(forKey: one.digest) else {
                        trial.expect(
                            false, promise: .lists, expected: "each entry once",
                            got: "an entry twice, or one that is not kept")
                        continue
                    }
                    guard let entry = trial.model[key] else { continue }
                    trial.expect(
                        one.key == nil || one.key == key, promise: .lists, expected: "the key of the entry",
                        got: "another key")
                    trial.expect(
                        one.metadata == entry.metadata, promise: .lists, expected: "\(entry.metadata)",
                        got: "\(one.metadata)")
                    let size = entry.payload.bytes.count
                    trial.expect(one.size == size, promise: .lists, expected: "\(size) bytes", got: "\(one.size)")
                }
                trial.expect(left.isEmpty, promise: .lists, expected: "every entry", got: "\(left.count) missing")
            }
        }
    }

    func checkPins(_ findings: inout BrokenPromises) {
        let missing = TestedPlugin.key(["id": "none"])
        check("an entry is pinned, and thirty others of an eighth of the capacity are written", findings: &findings) {
            trial in
            guard let capacity = trial.traits.capacity, capacity <= 4_000_000 else { return }
            let large = Data(repeating: 7, count: capacity / 8)
            let key = TestedPlugin.key(["id": "pinned"], scope: "a")
            guard try await trial.store.write(Entry(large, Metadata(fetchedAt: trial.world.now)), for: key),
                let isPinned = try await trial.pinned(key)
            else { return }
            trial.expect(isPinned, promise: .pins, expected: "a pin", got: "false")
            if let listed = try await trial.listed(100) {
                let pinned = listed.filter(\.isPinned).map(\.digest)
                trial.expect(
                    pinned == [key.digest], promise: .pins, expected: "one pin in the list", got: "\(pinned.count)")
            }
            let pinsMissing = try await trial.store.setPinned(true, for: missing)
            trial.expect(!pinsMissing, promise: .pins, expected: "no pin without an entry", got: "true")
            for isAfterRestart in [false, true] {
                if isAfterRestart, !trial.traits.isForeign { break }
                if isAfterRestart { try await trial.restart() }
                for number in 1...30 {
                    let entry = Entry(large, Metadata(fetchedAt: trial.world.now))
                    _ = try await trial.store.write(entry, for: TestedPlugin.key(["id": "\(number)"]))
                    let bytes = await trial.store.statistics().bytes
                    trial.expect(
                        bytes <= capacity, promise: .capacity, expected: "\(capacity) bytes at most", got: "\(bytes)")
                }
                let isThere = try await trial.store.read(key) != nil
                trial.expect(isThere, promise: .pins, expected: "the pinned entry", got: "nothing")
            }
            try await trial.store.remove(.scope("a"))
            let left = try await trial.store.setPinned(true, for: key)
            trial.expect(!left, promise: .pins, expected: "no pin once the entry is removed", got: "true")
        }
        check("every entry is pinned", findings: &findings) { trial in
            guard let capacity = trial.traits.capacity, capacity <= 4_000_000 else { return }
            let large = Data(repeating: 7, count: capacity / 8)
            func write(_ number: Int) async throws -> Bool {
                try await trial.store.write(
                    Entry(large, Metadata(fetchedAt: trial.world.now)), for: TestedPlugin.key(["id": "\(number)"]))
            }
            var kept: [Int] = []
            for number in 1...16 where try await write(number) {
                guard let isPinned = try await trial.pinned(TestedPlugin.key(["id": "\(number)"])) else { return }
                if isPinned { kept.append(number) }
            }
            for number in kept {
                let isThere = try await trial.store.contains(TestedPlugin.key(["id": "\(number)"]))
                trial.expect(isThere, promise: .pins, expected: "all pinned entries", got: "one missing")
            }
            for number in kept {
                _ = try await trial.store.setPinned(false, for: TestedPlugin.key(["id": "\(number)"]))
            }
            _ = try await trial.store.setPinned(false, for: missing)
            let evictions = await trial.store.statistics().evictions
            let isKept = try await write(17)
            let evictionsAfter = await trial.store.statistics().evictions
            let goesOn = isKept || evictionsAfter > evictions || kept.isEmpty
            trial.expect(goesOn, promise: .pins, expected: "room once the pins are removed", got: "none")
        }
    }
}

extension StoreTrial {
    /// Returns all entries, listed with pages of `count`. Returns nil if the store cannot list entries.
    fileprivate mutating func listed(_ count: Int) async throws -> [ListedEntry]? {
        var all: [ListedEntry] = []
        var cursor: StoreCursor?
        for _ in 0..<500 {
            let page: StorePage
            do {
                page = try await store.list(after: cursor, most: count)
            } catch let error as StoreError where error.isUnsupported {
                return nil
            }
            expect(
                page.entries.count <= count, promise: .lists, expected: "\(count) entries at most",
                got: "\(page.entries.count)")
            all += page.entries
            cursor = page.next
            if cursor == nil { return all }
        }
        expect(false, promise: .lists, expected: "an end of the list", got: "500 pages")
        return all
    }

    /// Pins an entry. Returns nil if the store cannot pin entries.
    fileprivate func pinned(_ key: Key) async throws -> Bool? {
        do {
            return try await store.setPinned(true, for: key)
        } catch let error as StoreError where error.isUnsupported {
            return nil
        }
    }

    fileprivate mutating func expireIfPossible(_ selection: Selection) async throws {
        do { try await expire(selection) } catch let error as StoreError where error.isUnsupported {}
    }
}
