// Counts which prefetched copies are used, and which are wasted.

import LarderSystem

extension StoreAccess {
    /// Notes that a marked copy has answered a user's load.
    @inline(never)
    func usedPrefetch(_ entry: Entry, for request: Request) {
        let key = variations.entryKey(of: request)
        let (events, isOpen) = prefetched.used(entry.metadata, size: entry.payload.size, at: key)
        count(events)
        if isOpen { world.begin { [weak self] in await self?.settle(key) } }
    }

    /// Notes the outcome of a write, in the turn of the key.
    func noteWritten(_ entry: Entry, at key: Key, isKept: Bool) {
        if prefetched.isEmpty, !entry.metadata.isUnusedPrefetch { return }
        count(isKept ? prefetched.wrote(entry.metadata, size: entry.payload.size, at: key) : prefetched.removed(key))
    }

    /// Notes that there is no entry under a key any more.
    func noteRemoved(_ key: Key) {
        if !prefetched.isEmpty { count(prefetched.removed(key)) }
    }

    /// Notes that the selected entries were removed.
    func noteRemoved(_ selection: Selection) {
        if !prefetched.isEmpty { count(prefetched.removed(selection)) }
    }

    /// Notes that a search for a copy has found this entry, or none.
    func noteFound(_ entry: Entry?, at key: Key) {
        let isMarked = entry?.metadata.isUnusedPrefetch ?? false
        if !isMarked, prefetched.isEmpty { return }
        // A marked entry of which nothing is known is of an earlier run.
        if prefetched.knows(key) != isMarked { world.begin { [weak self] in await self?.settle(key) } }
    }

    /// Notes that the store, or a tier of it, has evicted entries. They may be in another tier.
    func noteEvicted(_ entries: some Collection<EvictedEntry>) {
        if prefetched.isEmpty { return }
        let keys = entries.map(\.key).filter(prefetched.knows)
        if !keys.isEmpty { world.begin { [weak self] in for key in keys { await self?.settle(key) } } }
    }

    /// Looks for copies that the store has evicted without telling.
    func lookForEvicted() async {
        for key in prefetched.waiting where (try? await store.contains(key)) == false { await settle(key) }
    }

    /// Compares what is known about a copy with the entry in the store, in the turn of its key.
    func settle(_ key: Key) async {
        // A write may come in between.
        for _ in 0..<3 {
            let ticket = keys.begin(key)
            if await keys.perform(ticket, if: .untouched, { await settleInTurn(key) }) == .done { return }
            if await !keys.waitForFreeTurn(ticket) { return }
        }
    }

    private func settleInTurn(_ key: Key) async {
        // A store that cannot be read, or is closed, has perhaps an entry.
        guard isOpen, let found = try? await Optional.some(store.read(key)) else { return }
        if found != nil { meter.countOwnRead() }
        let (events, step) = prefetched.settle(key, found.map { ($0.entry.metadata, $0.entry.payload.size) })
        count(events)
        guard step == .takeMarkOff, var entry = found?.entry else { return }
        entry.metadata.isUnusedPrefetch = false
        // If this fails, the copy stays known as used.
        if (try? await store.renew(entry, for: key)) == true { prefetched.markIsOff(key) }
    }

    /// Returns an entry that the origin has confirmed as it may be written, in the turn of its key. The mark may have been
    /// taken off since the copy was read.
    func withPresentMark(_ entry: Entry, at key: Key) async -> Entry {
        guard entry.metadata.isUnusedPrefetch else { return entry }
        var entry = entry
        if let keepsMark = prefetched.keepsMark(entry.metadata, at: key) {
            entry.metadata.isUnusedPrefetch = keepsMark
        } else if let found = try? await store.read(key) {
            meter.countOwnRead()
            entry.metadata.isUnusedPrefetch = found.entry.metadata.isUnusedPrefetch
        }
        return entry
    }

    private func count(_ events: [PrefetchedCopies.Event]) {
        if !events.isEmpty { meter.present.countPrefetched(events) }
    }
}

extension Meter {
    /// Counts prefetched copies.
    fileprivate func countPrefetched(_ events: [PrefetchedCopies.Event]) {
        change { metrics in
            for event in events {
                let (counter, bytes, size): (Counter, Counter, Int) =
                    switch event {
                    case .saved(let size): (.prefetched, .prefetchedBytes, size)
                    case .used(let size): (.prefetchedUsed, .prefetchedUsedBytes, size)
                    case .wasted(let size): (.prefetchedWasted, .prefetchedWastedBytes, size)
                    }
                metrics.count(counter)
                metrics.count(bytes, UInt64(size))
            }
        }
    }
}
