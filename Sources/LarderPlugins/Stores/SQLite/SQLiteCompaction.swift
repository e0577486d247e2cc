import LarderBase
import LarderCore

// Giving space on the disk back.
extension SQLiteStore {
    /// The pages that are given back together, so that other changes do not wait long.
    private static let pagesAtOnce = 1_000

    /// Copies the log into the database and empties it, and shortens the database by its free pages.
    func compact() async throws {
        try await settle()
        try await world.blocking(on: database.path + " check") { [self] in
            do { try giveAllSpaceBack() } catch { throw StoreError(error) }
        }
    }

    private func giveAllSpaceBack() throws {
        if Disk.stamp(of: database.path) == nil { return }
        var (free, last) = (Int64.max, Int64.max)
        repeat {
            last = free
            free = try database.writing { connection in
                try connection.run("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))")
                return try connection.first("PRAGMA freelist_count") { $0.integer(0) } ?? 0
            }
        } while free > 0 && free < last
        _ = try database.writing { try database.copyLog($0, .wholeAfterReaders) }
    }
}
