import LarderSystem

/// Tells streams and screens about the answers that reach a store, and about the changes that others make.
final class StoreNews: Sendable {
    /// The listeners to answers.
    private let saved: Listeners<SavedEntry>
    /// The listeners to the changes that others make.
    private let changed: Listeners<Selection>
    /// The source whose entries the store finds; nil for all sources.
    let source: DataSource?

    init(saved: Listeners<SavedEntry>, changed: Listeners<Selection>, source: DataSource?) {
        self.saved = saved
        self.changed = changed
        self.source = source
    }

    /// Sends an answer to the listeners.
    ///
    /// - Parameter names: the fields by which the answers vary. An answer that may not be kept may be for one user only, so
    ///   it varies by all.
    @inline(never)
    func send(_ entry: Entry, for request: Request, varyingBy names: [String], isKept: Bool, since ticket: Ticket) {
        if saved.isEmpty { return }
        saved.send(
            SavedEntry(request: request, names: names, entry: entry, isKept: isKept, ticket: ticket, source: source))
    }

    /// Sends a change that others made.
    func send(_ change: Selection) { changed.send(change) }
}
