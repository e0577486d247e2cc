import LarderBase
import LarderCore

extension FileStore {
    /// Checks the file of every entry: its head, its name, its length and the file of its payload.
    ///
    /// This store has no checksum of payloads. The validator `checksum` notices a changed payload when it is loaded.
    func verify(
        repairing isRepairing: Bool, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> StoreVerification {
        try await blocking {
            try list()
            var result = StoreVerification()
            let names = files.ids { _, _ in true }
            for (number, name) in names.enumerated() {
                if Disk.item(path(name))?.isFolder == false {
                    result.checked += 1
                    // Another process may be replacing the entry, so that its files do not fit for a moment.
                    if try isDamaged(name), try isDamaged(name) {
                        result.damaged += 1
                        if isRepairing {
                            try changing.withLock { _ in if try isDamaged(name) { try forget(name) } }
                            result.repaired += 1
                        }
                    }
                }
                progress(Double(number + 1) / Double(names.count))
            }
            return result
        }
    }

    private func isDamaged(_ name: String) throws -> Bool {
        guard let key = head(of: name)?.written.key, Self.name(of: key) == name else {
            return Disk.item(path(name))?.isFolder == false
        }
        guard let (bytes, _) = try contents(of: name) else { return false }
        do throws(StoreError) { return try entry(in: bytes, of: name, for: key, isLocked: true) == nil } catch {
            if error.isDamaged { return true }
            throw error
        }
    }
}
