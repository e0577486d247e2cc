/// The consequence of a store's failure.
enum FaultEffect: String {
    case notRead = "not read"
    case notSaved = "not saved"
    case notPromoted = "not copied to the tiers above"
    case notReplaced = "damaged copy not replaced"
    case notRemoved = "damaged copy not removed"
    case notDropped = "copy not dropped"
    case notCleared = "not cleared"
    case notExpired = "not marked as expired"

    /// The operation that failed.
    var kind: StoreFaultKey.Kind {
        switch self {
        case .notRead: .read
        case .notSaved, .notPromoted, .notReplaced, .notExpired: .write
        case .notRemoved, .notDropped, .notCleared: .remove
        }
    }
}
