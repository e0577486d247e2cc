import Larder

/// The surroundings of a decision: time, order, and what must be new. A planner reads no others.
struct SyncMoment: Sendable {
    /// The device's clock, in milliseconds since 1970.
    var now: Int64
    /// The server's clock less the device's, in milliseconds, as far as answers have told.
    var offset: Int64 = 0
    /// The number of the next event. It orders answers and pulls, and never goes back.
    var sequence: Int64
    /// Makes a key that no write has had.
    var newKey: @Sendable () -> String

    /// Returns the number of this event, and goes on to the next.
    mutating func next() -> Int64 {
        sequence += 1
        return sequence
    }
}

/// The books: each write that was made is in one of the others.
struct Books: Hashable, Sendable {
    var made = 0
    var accepted = 0
    /// Merged with an earlier write that was never sent.
    var merged = 0
    /// Replaced by what others wrote.
    var overtaken = 0
    var rejected = 0
    var expired = 0
    var discarded = 0
    var pending = 0

    /// The writes that were made and are in none of the others. Always 0.
    var unaccounted: Int { made - accepted - merged - overtaken - rejected - expired - discarded - pending }

    static func + (left: Books, right: Books) -> Books {
        Books(
            made: left.made + right.made, accepted: left.accepted + right.accepted, merged: left.merged + right.merged,
            overtaken: left.overtaken + right.overtaken, rejected: left.rejected + right.rejected,
            expired: left.expired + right.expired, discarded: left.discarded + right.discarded,
            pending: left.pending + right.pending)
    }
}

/// All that follows from a decision besides the changed rows. It is kept in the same transaction.
struct SyncEffects: Sendable {
    /// The change of the books.
    var books = Books()
    var events: [RecordEvent] = []
    /// Writes that are not sent any more.
    var letters: [DeadLetter] = []
    /// Records that the service has named.
    var renamed: [Renaming] = []
    /// Temporary ids that the service will never name.
    var gone: Set<String> = []
    /// Tries of a write whose outcome was not known.
    var repeated = 0
    /// Conflicts that were found.
    var conflicts = 0
    /// Rows of a pull that were older than an answer.
    var staleRows = 0
    /// The milliseconds from each write that was accepted to its acceptance, by the device's clock.
    var waits: [Int64] = []

    struct Renaming: Hashable, Sendable {
        var former: String
        /// The id as it is written in records.
        var id: JSONText
    }
}

/// A write that is not sent any more, with all that is needed to make it again.
struct DeadLetter: Hashable, Sendable {
    /// The reasons for which a write is given up.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The service refused it.
        case rejected
        /// It waited too long.
        case expired
        /// Others wrote the same, or deleted the record.
        case overtaken
        /// It needs a record whose create was refused or given up.
        case needsRejected
    }

    var id: String
    var write: QueuedWrite
    /// The record as the service had it.
    var base: JSONText?
    /// The record as the user saw it with the write.
    var shown: JSONText?
    var reason: Reason
    /// The service's own word for a rejection, such as its status.
    var status: Int?
}

/// Something about a record that its user may want to know.
enum RecordEvent: Hashable, Sendable {
    case accepted(id: String, write: Int64)
    case rejected(id: String, write: Int64, status: Int?)
    case overtaken(id: String, write: Int64)
    case expired(id: String, write: Int64)
    /// Both sides changed the record: what each had, and what became of it.
    case conflict(id: String, mine: JSONText?, theirs: JSONText?, result: JSONText?)
    case renamed(former: String, id: String)
    /// A full pull would delete more than the guard allows; it needs a second one that agrees.
    case suspicious(missing: Int, of: Int)
}
