/// An answer that was passed to a store, for streams that follow a request.
struct SavedEntry: Sendable {
    /// The request that was answered.
    let request: Request
    /// The names of the fields by which the answers vary.
    let names: [String]
    let entry: Entry
    let isKept: Bool

    /// Returns whether it is the answer to another request, too.
    func answers(_ other: Request) -> Bool {
        request.key == other.key && other.matches(request, by: names)
    }
}
