import Larder

/// The state of the pulls of a resource and an account: how much is known, and where the next pull goes on.
struct PullState: Hashable, Sendable {
    /// The source of the bases and the position.
    var source = ""
    /// The place up to which all changes are merged: the service's own mark, never made of the device's clock. Nil before
    /// the first complete pull.
    var position: String?
    /// The pull that is under way; nil if none is.
    var run: PullRun?
    /// The number of the last full pull.
    var generation: Int64 = 0
    /// The time at which the last complete pull began, in milliseconds since 1970; nil if there was none.
    var completedAt: Int64?
    /// The time at which the last complete full pull began; nil if there was none.
    var fullAt: Int64?
    /// The number of the full pull that would have deleted too much; nil if the last one did not.
    var suspected: Int64?
    /// Whether the service did not know the position any more, and no pull has ended since.
    var isExpired = false
    /// The service's mark of its own history, such as a restored backup; nil if it has none.
    var epoch: String?
    /// The edition of the policy for which everything was fetched.
    var edition = 1
    /// Whether records were removed that the policy does not keep, so that a record which is not here may be at the service.
    var isTrimmed = false
    /// The reason for which the last pull failed; nil if it did not.
    var failure: String?
}

/// A pull that is under way. It goes on after a restart.
struct PullRun: Hashable, Sendable {
    /// The moment at which it began, among the answers of the service.
    var began: Int64
    /// The time at which it began, in milliseconds since 1970.
    var startedAt: Int64 = 0
    var isFull: Bool
    /// The cursor of the next page; nil for the first one.
    var cursor: String?
    /// The position after this pull, as the first page that has one told it.
    var candidate: String?
    /// Whether that was the first page, so that no answer of this pull's time is older.
    var isCandidateEarly = false
    /// Whether rows were not merged, because an answer had come since the pull began.
    var hasStaleRows = false
    /// A cursor that was seen. A service that leads in circles comes back to it, however long the circle is.
    var landmark: String?
    /// The number of pages so far.
    var pages = 0
    /// The number of times that the service has refused to answer the next page.
    var failures = 0
}

/// A page that was pulled and checked.
struct PulledPage: Hashable, Sendable {
    var records: [PulledRecord]
    /// The ids of deleted records.
    var deleted: [String] = []
    /// The cursor of the next page; nil on the last one.
    var next: String?
    /// The position from which the next pull begins, if the page tells it.
    var position: String?
    var epoch: String?

    var isLast: Bool { next == nil }
}

/// A record of a page.
struct PulledRecord: Hashable, Sendable {
    var id: String
    var idText: JSONText
    var record: JSONText
    var version: JSONText?
}

/// The reasons for which a page is refused as a whole. Nothing of it is merged.
enum PullRefusal: Error, Hashable {
    /// The page leads to a page that was there before.
    case cursorSeen
    /// A page in the middle of a pull belongs to another history of the service.
    case epochChanged
    /// There are more pages than any service has.
    case tooManyPages
    /// The page names a temporary id, which no service can know.
    case temporaryID
}
