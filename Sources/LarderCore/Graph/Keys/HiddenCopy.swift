/// A copy that is outdated or cleared, and that a store could neither remove nor mark as expired.
struct HiddenCopy: Sendable {
    /// The reason why a copy is outdated.
    enum Reason: Sendable {
        /// The origin said that the resource is gone.
        case gone
        /// The copy may not be kept.
        case unkeepable
        /// A clearing that failed selects the copy.
        case uncleared
        /// The origin has sent a newer answer.
        case outdated(by: NewestAnswer)

        /// The reason, in words, why the copy may not be shown; nil if it may be shown as an expired copy.
        var reasonToHide: String? {
            switch self {
            case .gone: "the origin says it is gone, and it could not be removed"
            case .unkeepable: "it may not be kept, and could not be removed"
            case .uncleared: "it was cleared, and could not be removed"
            case .outdated: nil
            }
        }
    }

    var reason: Reason
    /// The number of the note. Later notes have larger numbers.
    var number: UInt64
    /// Whether an attempt to remove or mark the copy is under way, or an operation that was given up may still end.
    var isBusy: Bool
}
