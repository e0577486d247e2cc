/// The result of a check of a store.
public struct StoreVerification: Hashable, Sendable {
    /// The number of entries that were read.
    public var checked = 0
    /// The number of damaged entries among them.
    public var damaged = 0
    /// The number of damaged entries that were removed.
    package var removed = 0

    package init(checked: Int = 0, damaged: Int = 0, removed: Int = 0) {
        (self.checked, self.damaged, self.removed) = (checked, damaged, removed)
    }

    /// The number of damaged entries that are left.
    package var left: Int { damaged - removed }
}

extension Store {
    /// Lists the entries, reads each, and removes those that are damaged.
    ///
    /// - Parameters:
    ///   - progress: called with the share of the entries that were read, from 0 to 1.
    ///   - isSound: returns whether the payload of an entry is sound.
    /// - Throws: an error whose ``StoreError/isUnsupported`` is set if the store cannot list its entries; any other error of
    ///   listing or reading that is not damage.
    package func verify(
        progress: (Double) -> Void = { _ in }, isSound: (Entry, Key) async -> Bool = { _, _ in true }
    ) async throws -> StoreVerification {
        var result = StoreVerification()
        let total = Double(max(1, await statistics().entries))
        try await forEachListed { listed in
            guard let key = listed.key else { return }
            try Task.checkCancellation()
            result.checked += 1
            var isDamaged = false
            do {
                if let found = try await read(key) { isDamaged = await !isSound(found.entry, key) }
            } catch let failure as StoreError where failure.isDamaged {
                isDamaged = true
            }
            if isDamaged {
                result.damaged += 1
                if (try? await remove(.key(key))) != nil { result.removed += 1 }
            }
            progress(min(1, Double(result.checked) / total))
        }
        return result
    }
}
