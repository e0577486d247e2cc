/// An answer that was passed to a store, for streams that follow a request.
struct SavedEntry: Sendable {
    /// The request that was answered.
    let request: Request
    /// The names of the fields by which the answers vary. An answer that may not be kept may be for one user only, so it
    /// varies by all.
    let names: [String]
    let entry: Entry
    let isKept: Bool
    /// The ticket of the call, which tells whether the entry was cleared since.
    let ticket: Ticket
    /// The source of the data; nil if copies of all sources are used.
    let source: DataSource?

    /// Returns whether it is the answer to another request, too.
    func answers(_ other: Request) -> Bool {
        request.key == other.key && other.matches(request, by: names)
    }
}
