/// The result of a check of a store: see ``Store/verify(repairing:progress:)``.
public struct StoreVerification: Hashable, Sendable {
    /// The number of entries that were checked.
    public var checked: Int
    /// The number of damaged entries among them.
    public var damaged: Int
    /// The number of files and records that belong to no entry.
    public var leftovers: Int
    /// The descriptions of other damage, such as `the totals are wrong`. They hold no key and no payload.
    public var faults: [String]
    /// The number of damaged entries, leftovers and other damage that were removed or mended.
    public var repaired: Int
    /// The names of the tiers that cannot be checked, because they cannot list their entries.
    public var unchecked: [String] = []

    /// Creates the result of a check. By default, nothing was checked.
    public init(checked: Int = 0, damaged: Int = 0, leftovers: Int = 0, faults: [String] = [], repaired: Int = 0) {
        self.checked = checked
        self.damaged = damaged
        self.leftovers = leftovers
        self.faults = faults
        self.repaired = repaired
    }

    /// The number of damaged entries, leftovers and other damage that are left.
    public var left: Int { max(0, damaged + leftovers + faults.count - repaired) }

    /// Adds the result of the check of another store, such as the next tier.
    public mutating func add(_ other: StoreVerification) {
        checked += other.checked
        damaged += other.damaged
        leftovers += other.leftovers
        faults += other.faults
        repaired += other.repaired
        unchecked += other.unchecked
    }
}

extension Store {
    /// Lists the entries and reads each.
    package func verifyListed(
        repairing isRepairing: Bool, progress: @Sendable (Double) -> Void
    ) async throws -> StoreVerification {
        var result = StoreVerification()
        let total = Double(max(1, await statistics().entries))
        try await forEachListed { listed in
            guard let key = listed.key else { return }
            try Task.checkCancellation()
            result.checked += 1
            do { _ = try await read(key) } catch let failure as StoreError where failure.isDamaged {
                result.damaged += 1
                if isRepairing { try await remove(.key(key)) }
                // Some stores remove an entry as soon as they notice that it is damaged.
                let isGone = if isRepairing { true } else { (try? await contains(key)) == false }
                if isGone { result.repaired += 1 }
            }
            progress(min(1, Double(result.checked) / total))
        }
        return result
    }
}
