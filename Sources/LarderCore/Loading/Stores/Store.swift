/// Keeps the entries of one resource.
///
/// Methods may be called from any thread and at the same time. The graph orders the calls: it never writes an answer
/// that is older than the one in the store.
///
/// A store implements ``read(_:)``, ``write(_:for:)``, ``remove(_:)`` and ``statistics()``. The other methods have
/// defaults. A store around another one is a ``WrappingStore``, so that it forwards all of them.
public protocol Store: Sendable {
    /// Passes the entry under `key` to `accept` if it is available at once in this process's memory. Returns whether
    /// `accept` was called and returned true. Returns false by default. The entry need not be admitted again.
    ///
    /// This is called on the caller's own thread. If it returns false, it must leave no trace. If it returns true, that
    /// counts as a use of the entry. `accept` takes what it needs of the entry, so that a hit copies nothing else. It is
    /// quick, is called at most once, and uses no store, so the store may hold a lock meanwhile.
    func use(_ key: Key, if accept: (Entry) -> Bool) -> Bool

    /// The name of the tier in which ``use(_:if:)`` looks. It must not change. `store` by default.
    var peekedTier: String { get }

    /// Returns the entry under the key of `reading`. Returns nil if there is none.
    ///
    /// A store of several tiers returns the best of their entries: see ``Reading``.
    ///
    /// - Throws: any error if reading fails. The load then goes on as if there were no entry.
    func read(_ reading: Reading) async throws -> Found?

    /// Keeps `entry` under `key`, in place of the entry that was there. The store may remove it at any time to make
    /// room.
    ///
    /// A write that fails must not change the older entry. The load then calls ``expire(_:)`` for the key, unless the
    /// payload is the same. A store that consists of several stores does this itself for each failed store while
    /// another one keeps the entry.
    ///
    /// - Returns: whether the entry is kept. An entry that is larger than the store's capacity is not kept. In this
    ///   case the store must remove the older entry too, or mark it as expired if it is pinned.
    /// - Throws: any error if writing fails. The load then goes on, and its value is marked as not stored.
    func write(_ entry: Entry, for key: Key) async throws -> Bool

    /// Keeps the metadata of `entry` for the payload that the store has under `key`. This is called if the origin said
    /// that the payload is unchanged.
    ///
    /// By default, writes the whole entry. A store should write only the metadata, which takes no time for a large
    /// payload. A store on a disk should be able to do it when the disk is full. ``Metadata/isOfSamePayload(as:)`` says
    /// whether the store has this payload. A renewal that fails must not change the entry.
    ///
    /// - Returns: whether the entry is kept. If it is not, the graph calls ``write(_:for:)``. So return false if there
    ///   is no entry, its payload is another one, or the metadata has no room.
    /// - Throws: any error if writing fails. The load then goes on, and its value is marked as not stored.
    func renew(_ entry: Entry, for key: Key) async throws -> Bool

    /// Sets ``Metadata/isExpired`` of the selected entries in every tier. Entries that are expired already stay so.
    /// Does nothing if there is no such entry.
    ///
    /// An expired entry is never fresh, and is shown only when the origin fails. This is called if an app says that
    /// entries are out of date. It is called with a key if a newer answer could not be saved.
    ///
    /// By default, reads the entry under a key and writes it again. For other selections, lists the entries first. A
    /// store on a disk should be able to do this when the disk is full.
    ///
    /// - Throws: any error if an entry may be left that is not expired. After a failed write the entry is then removed.
    ///   By default, an error whose ``StoreError/isUnsupported`` is set if the store cannot list its entries.
    func expire(_ selection: Selection) async throws

    /// Removes the selected entries, and their pins.
    ///
    /// - Throws: any error if an entry may be left.
    func remove(_ selection: Selection) async throws

    /// Returns a page of the list of all entries.
    ///
    /// An entry that is kept during the whole listing is listed at least once. An entry that is written, removed or
    /// moved between tiers meanwhile may be listed or not. Listing counts neither hits nor misses.
    ///
    /// - Parameters:
    ///   - cursor: the ``StorePage/next`` of the previous page; nil for the first page.
    ///   - count: the largest number of entries in the page, at least 1. A page may have fewer, or none.
    /// - Throws: by default, an error whose ``StoreError/isUnsupported`` is set; any error if reading fails.
    func list(after cursor: StoreCursor?, most count: Int) async throws -> StorePage

    /// Pins the entry under `key`, or removes its pin. A pinned entry is not evicted, and not removed because of its age.
    ///
    /// The pin stays until the entry is removed, also when it is replaced. In a store outside the process's memory it
    /// survives a restart. The entry counts in the capacity. A store that is full of pinned entries keeps no further entry.
    ///
    /// - Returns: whether the entry is pinned now. False if there is no entry to pin.
    /// - Throws: by default, an error whose ``StoreError/isUnsupported`` is set; any error if the pin cannot be kept, or
    ///   may be left.
    func setPinned(_ isPinned: Bool, for key: Key) async throws -> Bool

    /// Frees memory that the store does not need, at once. Does nothing by default. Entries outside of memory are not
    /// removed.
    func relieve()

    /// Returns the size of the store and the counts of its operations.
    func statistics() async -> StoreStatistics

    /// The changes that others make to the entries from now on, such as another process that uses the same server. Each
    /// access returns a new stream. Nil by default: the store hears of no changes.
    ///
    /// The graph listens as long as it uses the store. ``StoreChange/makeStream(keeping:)`` makes a stream whose length is
    /// bounded. If the connection was lost, so that changes may have been missed,
    /// the store sends ``Selection/all``.
    var changes: AsyncStream<StoreChange>? { get }

    /// Whether ``close()`` must be called. True by default. A store that has nothing to release returns false: its places
    /// are then free at once when the last load on it has ended.
    var needsClosing: Bool { get }

    /// Ends what is under way and gives back files, locks and connections. Does nothing by default.
    ///
    /// If ``needsClosing`` is set, the graph calls this once, after the last load on the store has ended, and calls
    /// nothing afterwards. The store that a reload puts in its place is opened on the same place when this returns. When
    /// an app closes its pantry, this is called after all answers that have arrived are saved; other operations that are
    /// still under way may fail then.
    ///
    /// A store whose policy could not be composed is released without this call.
    func close() async
}
