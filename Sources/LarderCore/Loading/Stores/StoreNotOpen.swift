// A store that replaces another one on the same place is not open until the last load on the other one has ended.

extension Trail.Event.Kind {
    /// A store is not open yet, so it found nothing or kept nothing. Fact: `tier`.
    public static let storeNotOpen: Self = "storeNotOpen"
}

extension Trail.Event {
    static func storeNotOpen(_ tier: String) -> Self {
        Self(.storeNotOpen, "the store is not open yet: \(.tier, tier)")
    }
}

extension StoreError {
    /// Returns the error of a store that is not open yet, such as one that still connects. It is noted in trails, and not
    /// counted as a fault: the load asks the origin.
    ///
    /// - Parameter tier: the name of the store, as trails show it.
    public static func notOpen(_ tier: String) -> StoreError {
        var error = StoreError("the store is not open yet")
        error.isNotOpen = true
        error.faults = [StoreFault(tier: tier, error: error)]
        return error
    }

    /// Whether nothing has failed: the tiers that did not answer are not open yet.
    var isOnlyNotOpen: Bool { isNotOpen || !faults.isEmpty && faults.allSatisfy(\.isNotOpen) }

    /// Creates the failure of one tier.
    init(_ message: String, of tier: String) {
        self.init(message, faults: [StoreFault(tier: tier, error: StoreError(message))])
    }
}

extension StoreFault {
    /// Whether the tier is not open yet.
    var isNotOpen: Bool { (error as? StoreError)?.isNotOpen == true }
}
