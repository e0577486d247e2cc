import LarderSystem
import LarderCore

// Lists, pins and changes of all tiers.
extension TieredStore {
    /// Lists the lowest tier first. An entry of a tier above is left out if a tier below has it too, because entries are
    /// copied upwards at any time. The cursor consists of the number of the tier and its own cursor.
    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage {
        var depth = tiers.count - 1
        var inner: StoreCursor?
        if let cursor {
            let parts = cursor.text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let tier = Int(parts[0]), tiers.indices.contains(tier) else {
                throw StoreError("the cursor is not one of this store")
            }
            depth = tier
            inner = parts.count > 1 ? StoreCursor(String(parts[1])) : nil
        }
        guard depth >= 0 else { return StorePage([]) }
        let page = try await failing(in: tiers[depth].name) {
            try await tiers[depth].store.list(after: inner, most: count)
        }
        var entries: [ListedEntry] = []
        for entry in page.entries where try await !isBelow(depth, entry) { entries.append(entry) }
        if let next = page.next { return StorePage(entries, next: StoreCursor("\(depth) \(next.text)")) }
        return StorePage(entries, next: depth > 0 ? StoreCursor("\(depth - 1)") : nil)
    }

    /// Returns whether a tier below `depth` has the entry.
    private func isBelow(_ depth: Int, _ entry: ListedEntry) async throws -> Bool {
        guard let key = entry.key else { return false }
        for tier in tiers.dropFirst(depth + 1) {
            if try await failing(in: tier.name, { try await tier.store.contains(key) }) { return true }
        }
        return false
    }

    /// Pins the entry in the lowest tier that has it, so that pinned entries do not fill the faster tiers. Removes the pins
    /// in all tiers that can have any.
    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool {
        var failures: [(tier: String, error: any Error)] = []
        var isSupported = false
        for tier in tiers.reversed() {
            do {
                if try await tier.store.setPinned(isPinned, for: key) { return true }
                isSupported = true
            } catch {
                failures.append((tier.name, error))
                // A pin in a faster tier alone could be lost at the next start.
                if isPinned, (error as? StoreError)?.isUnsupported != true { break }
            }
        }
        if !isPinned, isSupported { failures.removeAll { ($0.error as? StoreError)?.isUnsupported == true } }
        if failures.isEmpty { return false }
        throw StoreError("not every tier could \(isPinned ? "pin" : "unpin") the entry", failures: failures)
    }

    /// The changes of all tiers. The tiers above one that was changed discard what it names. A change of all entries may
    /// stand for the changes of several tiers, so it concerns the tiers above each of them.
    var changes: AsyncStream<StoreChange>? {
        let streams = tiers.enumerated().compactMap { depth, tier in tier.store.changes.map { (depth, $0) } }
        guard let lowest = streams.last?.0 else { return nil }
        let (merged, sink) = StoreChange.makeStream()
        let latest = Locked<[Int: StoreChange]>([:])
        let tasks = streams.map { depth, stream in
            world.spawn { [tiers] in
                for await change in stream {
                    latest.withLock { $0[depth] = change }
                    sink.send(
                        StoreChange(change.selection) { selection in
                            if selection == .all {
                                for (_, change) in latest.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
                                    try await change.ofAllEntries.discard()
                                }
                            } else {
                                try await change.discard()
                            }
                            for tier in tiers.prefix(selection == .all ? lowest : depth) {
                                try await tier.store.remove(selection)
                            }
                        })
                }
            }
        }
        sink.onTermination = { _ in for task in tasks { task.cancel() } }
        return merged
    }

    var needsClosing: Bool { tiers.contains { $0.store.needsClosing } }

    /// Runs the work of one tier. Its failure names the tier.
    private func failing<Value>(in tier: String, _ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw StoreError("not every tier could be listed", failures: [(tier, error)])
        }
    }
}
