import Larder
import LarderSystem

/// A sound store in memory, which can be spoilt in one way or another.
struct Spoilt: Store {
    private struct State {
        var entries: [String: (key: Key, entry: Entry)] = [:]
        var first: [String: Entry] = [:]
        var statistics = StoreStatistics()
        var pins: Set<String> = []
        var order: [String] = []
    }

    var isForeign = false
    var place: @Sendable (Key) -> String = { $0.text }
    var kept: @Sendable (Entry, _ old: Entry?) -> Entry? = { entry, _ in entry }
    var isMeant: @Sendable (Selection, Key, Entry) -> Bool = { $0.contains($1, $2) }
    var limit = Int.max
    /// The number of entries above which it evicts.
    var entriesAtMost: Int?
    var peeksFirst = false
    var peeksUnwanted = false
    var countsPeeks = false
    var counts = true
    var renewed: @Sendable (Entry, _ old: Entry) -> Entry? = { entry, old in
        entry.metadata.isOfSamePayload(as: old.metadata) ? entry : nil
    }
    var contained: @Sendable (Entry?) -> Bool = { $0 != nil }
    var listed: @Sendable ([ListedEntry]) -> [ListedEntry] = { $0 }
    var honoursPins = true
    var marked: @Sendable (Selection, Key, Entry) -> Bool = { $0.contains($1, $2) }
    private let state = Locked(State())

    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool {
        if isForeign, !peeksUnwanted { return false }
        return state.withLock { state in
            let entry = peeksFirst ? state.first[place(key)] : state.entries[place(key)]?.entry
            guard let entry else { return false }
            if countsPeeks { state.statistics.hits += 1 }
            guard accept(entry) || peeksUnwanted else { return false }
            state.statistics.hits += 1
            return true
        }
    }

    func read(_ reading: Reading) -> Found? {
        state.withLock { state in
            let entry = state.entries[place(reading.key)]?.entry
            if !reading.needsPayload {
                return contained(entry) ? Found(entry ?? Entry(text: ""), tier: "wrong", isForeign: isForeign) : nil
            }
            guard let entry else {
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
            if entriesAtMost != nil, entry.payload.bytes.count > 4_000 {
                state.entries[place] = nil
                return false
            }
            guard let entry = kept(entry, state.entries[place]?.entry) else { return true }
            state.first[place] = state.first[place] ?? entry
            state.entries[place] = (key, entry)
            if let most = entriesAtMost, !evict(&state, downTo: most, sparing: place) {
                state.entries[place] = nil
                return false
            }
            if state.entries.count > limit, let other = state.entries.keys.first(where: { $0 != place }) {
                state.entries[other] = nil
            }
            return true
        }
    }

    /// Evicts the entries that were written first. Returns false if the new entry finds no room.
    private func evict(_ state: inout State, downTo most: Int, sparing place: String) -> Bool {
        state.order.removeAll { $0 == place }
        state.order.append(place)
        while state.entries.count > most {
            let next = state.order.first { $0 != place && !(honoursPins && state.pins.contains($0)) }
            guard let next else { return false }
            state.order.removeAll { $0 == next }
            if state.entries.removeValue(forKey: next) != nil { state.statistics.evictions += 1 }
        }
        return true
    }

    func renew(_ entry: Entry, for key: Key) -> Bool {
        state.withLock { state in
            guard let old = state.entries[place(key)]?.entry, let entry = renewed(entry, old) else { return false }
            state.entries[place(key)]?.entry = entry
            return true
        }
    }

    func list(after cursor: StoreCursor?, most count: Int) -> StorePage {
        let (entries, pins) = state.withLock { ($0.entries, $0.pins) }
        let all = entries.values.sorted { $0.key.text < $1.key.text }
        let rest = all.drop { $0.key.text <= cursor?.text ?? "" }
        let page = rest.prefix(count).map { kept in
            var listed = ListedEntry(kept.key, kept.entry.metadata, size: kept.entry.payload.bytes.count)
            listed.isPinned = pins.contains(place(kept.key))
            return listed
        }
        return StorePage(
            listed(page), next: rest.count > count ? page.last?.key.map { StoreCursor($0.text) } : nil)
    }

    func setPinned(_ isPinned: Bool, for key: Key) -> Bool {
        state.withLock { state in
            let place = place(key)
            if isPinned, state.entries[place] != nil { state.pins.insert(place) } else { state.pins.remove(place) }
            return state.pins.contains(place)
        }
    }

    func expire(_ selection: Selection) {
        state.withLock { state in
            for (place, kept) in state.entries where marked(selection, kept.key, kept.entry) {
                state.entries[place]?.entry.metadata.isExpired = true
            }
        }
    }

    func remove(_ selection: Selection) {
        state.withLock { state in
            state.entries = state.entries.filter { !isMeant(selection, $0.value.key, $0.value.entry) }
            state.first = state.first.filter { state.entries[$0.key] != nil }
            state.pins = state.pins.filter { state.entries[$0] != nil }
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
