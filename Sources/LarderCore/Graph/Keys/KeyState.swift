import LarderSystem

/// Everything that is going on with one key: the turns of its writes, the calls under way, and what must be remembered of
/// its copies and its origin.
///
/// `@unchecked Sendable`: its variables are read and changed only under the lock of its shard in the ``KeyTable``.
final class KeyState: KeyWrites, @unchecked Sendable {
    /// The properties of a record that the table counts.
    struct Marks: OptionSet {
        let rawValue: UInt8

        /// Its copy is hidden, or under another key than that of the request.
        static let unusual = Marks(rawValue: 1)
        /// The origin failed for it.
        static let failed = Marks(rawValue: 2)
        /// It has prefetched copies.
        static let prefetched = Marks(rawValue: 4)
        /// A refresh of it waits.
        static let postponed = Marks(rawValue: 8)
        /// It is known that its answers do not vary.
        static let uniform = Marks(rawValue: 16)
    }

    /// The calls under way: those that callers may join, and those that go on for the callers they have.
    var flights: [FlightRecord] = []
    /// The last failure of the origin, until it answers.
    var failure: OriginFailure?
    /// The refresh that waits for a network.
    var waitingRefresh: PostponedRefresh?
    /// The fields by which answers vary, for each store.
    var fields: [FieldFacts] = []
    /// The record of the entry under the key itself.
    private var own = EntryState()
    /// The records of the entries under variants of the key.
    private var variants: [Key: EntryState] = [:]
    private var hidden = 0
    private var prefetched = 0
    private var refreshing = 0

    /// The marks that the table has counted.
    var marks: Marks = []
    /// The number of the last change in the shard.
    var changed: UInt64 = 0

    /// The marks that hold now.
    var presentMarks: Marks {
        var marks: Marks = []
        if hidden > 0 { marks.insert(.unusual) }
        if failure != nil { marks.insert(.failed) }
        if prefetched > 0 { marks.insert(.prefetched) }
        if waitingRefresh != nil { marks.insert(.postponed) }
        for facts in fields { marks.insert(facts.variation == nil ? .uniform : .unusual) }
        return marks
    }

    /// Whether a load, a write or a refresh is under way for the key.
    var isUnderWay: Bool { tickets > 0 || !flights.isEmpty || refreshing > 0 }

    /// Whether a copy of the key is hidden, or shown as expired.
    var hidesCopy: Bool { hidden > 0 }

    /// Returns whether something is known of the key that concerns one store.
    func knows(_ store: UInt64) -> Bool {
        fields.contains { $0.store == store }
            || prefetched > 0 && entryKeys.contains { self[$0].prefetched.contains { $0.store == store } }
    }

    /// Forgets what concerns one store.
    func forget(_ store: UInt64) {
        fields.removeAll { $0.store == store }
        for key in entryKeys { self[key].prefetched.removeAll { $0.store == store } }
    }

    /// The record of the entry under `key`, which is the key or a variant of it.
    subscript(key: Key) -> EntryState {
        get { key.isVariant ? variants[key] ?? EntryState() : own }
        set {
            let former = self[key]
            hidden += (newValue.hidden == nil ? 0 : 1) - (former.hidden == nil ? 0 : 1)
            prefetched += newValue.prefetched.count - former.prefetched.count
            refreshing += (newValue.isRefreshing ? 1 : 0) - (former.isRefreshing ? 1 : 0)
            if key.isVariant { variants[key] = newValue.isEmpty ? nil : newValue } else { own = newValue }
        }
    }

    /// The keys of the entries of which something is known.
    var entryKeys: [Key] { own.isEmpty ? Array(variants.keys) : [key] + variants.keys }
}

/// The record of one entry: that of a key, or of a variant of it.
struct EntryState {
    /// The reason to hide it or show it as expired; nil for none.
    var hidden: HiddenCopy?
    /// Whether it is being refreshed in the background.
    var isRefreshing = false
    /// The prefetched copy of each store.
    var prefetched: [PrefetchedCopy] = []

    var isEmpty: Bool { hidden == nil && !isRefreshing && prefetched.isEmpty }
}
