import Larder

/// Decides what becomes of a record that the user and somebody else changed.
///
/// A rule is pure: the same conflict has the same result on every device.
protocol ConflictRule: Sendable {
    /// Whether the rule is asked whenever both sides changed the record, and not only if they changed the same place.
    var isAboutRecords: Bool { get }
    /// Whether the user's change of a record that was deleted elsewhere makes it anew.
    var outlivesDeletion: Bool { get }
    /// Whether the app decides about the user's deletion of a record that was changed elsewhere.
    var asksApp: Bool { get }

    /// Decides.
    func resolve(_ conflict: RecordConflict) -> ConflictResolution
}

extension ConflictRule {
    var isAboutRecords: Bool { false }
    var outlivesDeletion: Bool { false }
    var asksApp: Bool { false }
}

/// A record that both sides changed.
struct RecordConflict: Hashable, Sendable {
    /// The record before both changes; nil if it was made on both sides, or if it is not known.
    var base: JSONText?
    /// The record as the user changed it.
    var mine: JSONText
    /// The record as the service has it.
    var theirs: JSONText
    /// The changes of the user at places where the service has another value than before and after.
    var fields: [FieldChange]
    /// Whether the user's side has the larger text: the decision about two changes at the same time.
    var isMineLarger: Bool
    /// The times of the changes, in milliseconds since 1970; nil if records have none.
    var times: (mine: Int64, theirs: Int64)?

    /// Whether the user's change is the later one; of two at the same time, the one with the larger text. Nil if records
    /// have no times.
    var isMineLater: Bool? {
        times.map { $0.mine == $0.theirs ? isMineLarger : $0.mine > $0.theirs }
    }

    static func isLarger(_ left: JSONText, _ right: JSONText) -> Bool {
        right.canonical.lexicographicallyPrecedes(left.canonical)
    }

    static func == (left: RecordConflict, right: RecordConflict) -> Bool {
        left.base == right.base && left.mine == right.mine && left.theirs == right.theirs && left.fields == right.fields
            && left.isMineLarger == right.isMineLarger && left.times?.mine == right.times?.mine
            && left.times?.theirs == right.times?.theirs
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(mine)
        hasher.combine(theirs)
    }
}

/// The end of a conflict.
enum ConflictResolution: Hashable, Sendable {
    /// The user's change goes on at all places.
    case keepMine
    /// The user's change is dropped where both changed the same.
    case dropFields
    /// The user's change is dropped as a whole.
    case dropAll
    /// The user's whole record goes on, also at places that only the service changed.
    case replace
    /// This record goes on.
    case merged(JSONText)
    /// The app decides later.
    case ask
}

/// Merges the changes of both sides. Where both changed the same, the later change stays, or else the service's.
struct MergeFields: ConflictRule {
    func resolve(_ conflict: RecordConflict) -> ConflictResolution {
        conflict.isMineLater == true ? .keepMine : .dropFields
    }
}

/// Lets the later change stay: of the places that both changed, or of the whole record.
struct LastWriteWins: ConflictRule {
    var isAboutRecords = false

    func resolve(_ conflict: RecordConflict) -> ConflictResolution {
        let isMineLater = conflict.isMineLater ?? conflict.isMineLarger
        return isAboutRecords ? (isMineLater ? .replace : .dropAll) : isMineLater ? .keepMine : .dropFields
    }
}

/// Lets the service's value stay where both changed the same.
struct ServerWins: ConflictRule {
    func resolve(_ conflict: RecordConflict) -> ConflictResolution { .dropFields }
}

/// Lets the user's value stay where both changed the same.
struct ClientWins: ConflictRule {
    var outlivesDeletion: Bool { true }

    func resolve(_ conflict: RecordConflict) -> ConflictResolution { .keepMine }
}

/// Leaves the decision to the app.
struct AskApp: ConflictRule {
    var asksApp: Bool { true }

    func resolve(_ conflict: RecordConflict) -> ConflictResolution { .ask }
}

/// Lets the app's code decide.
struct OwnRule: ConflictRule {
    let merge: @Sendable (_ base: JSONText?, _ mine: JSONText, _ theirs: JSONText) -> JSONText

    func resolve(_ conflict: RecordConflict) -> ConflictResolution {
        let record = merge(conflict.base, conflict.mine, conflict.theirs)
        return .merged(record.kind == .object ? record : conflict.theirs)
    }
}
