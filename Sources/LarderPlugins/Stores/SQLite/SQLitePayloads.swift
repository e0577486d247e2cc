import LarderFoundation
import LarderSystem
import LarderCore

/// The files of large payloads, beside the database. Blocks.
///
/// A file is complete before a row names it, never changes, and is deleted after the row is gone. So a process that is
/// killed leaves complete entries, and perhaps files that no row names. These are deleted before the first change of a
/// process and after removals, unless another process is writing such a file at that moment.
final class SQLitePayloads: Sendable {
    /// The place of a new payload.
    struct Place {
        var digest: [UInt8]
        /// The number of its file; nil if it goes into the row.
        var file: Int64?
    }

    private let folder: String
    /// The files whose contents were checked by this process.
    private let checked = Locked<[Int64: FileStamp]>([:])

    private static let suffix = ".payload"
    /// The most files whose check is remembered.
    private static let most = 10_000

    init(in folder: String) {
        self.folder = folder
    }

    /// Makes a file.
    ///
    /// - Parameter isDurable: whether to wait until the file survives a power cut.
    /// - Returns: the number in its name.
    func make(_ payload: Payload, isDurable: Bool) throws -> Int64 {
        let number = Self.randomNumber()
        let path = path(number)
        try payload.makeFile(at: path)
        if isDurable {
            try Disk.sync(path)
            try Disk.sync(folder)
        }
        return number
    }

    /// Deletes files. A file that cannot be deleted is left until the next deletion of files named by no row.
    ///
    /// - Returns: whether all are deleted.
    @discardableResult
    func delete(_ numbers: [Int64]) -> Bool {
        var areDeleted = true
        for number in numbers {
            do { try Disk.remove(path(number)) } catch { areDeleted = false }
            checked.withLock { $0[number] = nil }
        }
        return areDeleted
    }

    /// Returns the payload in a file. Its contents are checked at the first read.
    ///
    /// - Throws: ``StoreError/damaged`` if the file is missing or has other contents.
    func read(_ number: Int64, size: Int, digest: [UInt8]) throws -> Payload {
        let path = path(number)
        guard let stamp = Disk.stamp(of: path), let payload = try Payload(mapping: path), payload.bytes.count == size
        else { throw StoreError.damaged }
        if checked.withLock({ $0[number] }) == stamp { return payload }
        guard SQLiteChecksum.check(payload.bytes, digest) else { throw StoreError.damaged }
        checked.withLock { checked in
            if checked.count >= Self.most { checked = [:] }
            checked[number] = stamp
        }
        return payload
    }

    /// Deletes the files that no row names, unless another process is writing some.
    ///
    /// - Returns: whether that was done.
    @discardableResult
    func deleteUnnamed(_ connection: SQLiteConnection) throws -> Bool {
        try Disk.alone(in: folder) { delete(try unnamed(connection)) } ?? false
    }

    /// Deletes all files, unless another process is writing some.
    func deleteAll() {
        _ = Disk.alone(in: folder) {
            delete(((try? Disk.list(folder)) ?? []).compactMap { Self.number(in: $0.name) })
        }
    }

    private func unnamed(_ connection: SQLiteConnection) throws -> [Int64] {
        let numbers = try Disk.list(folder).compactMap { Self.number(in: $0.name) }
        return try numbers.filter { number in
            try connection.first("SELECT 1 FROM entries WHERE file=?", .integer(number)) { _ in true } == nil
        }
    }

    // MARK: Names

    /// Returns a random number, which does not come from the world: two simulated processes may use one folder.
    static func randomNumber() -> Int64 {
        UInt64(Disk.randomName(), radix: 16).map { Int64(bitPattern: $0) } ?? 0
    }

    private func path(_ number: Int64) -> String {
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return folder + "/" + String(repeating: "0", count: 16 - digits.count) + digits + Self.suffix
    }

    private static func number(in name: String) -> Int64? {
        guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return nil }
        return UInt64(name.dropLast(suffix.count), radix: 16).map { Int64(bitPattern: $0) }
    }
}
