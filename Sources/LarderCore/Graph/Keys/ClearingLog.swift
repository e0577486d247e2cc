import LarderSystem

/// The clearings of all processes that use a cache folder, so that each sees those of the others.
///
/// It contains no names, only salted digests of the accounts, tags, keys and resources that were cleared: see
/// ``ClearingRecord``. A process notes the number of the last clearing when a call begins. Before it keeps the answer, it
/// looks whether a clearing that concerns the answer came since. While it writes the answer it claims a byte of the file,
/// so that a clearing waits for the write, or the write sees the clearing. If a process is killed, its claims end.
///
/// On a full disk a new log cannot be made. Without a log, and on a file system without locks of files, the clearings of
/// other processes are not seen during a call.
final class ClearingLog: Sendable {
    /// The folder of the file. It has no other file, so that a watch of it reports nothing else.
    let folder: String
    private let ring = AtomicReference<RecordRing>()
    /// The numbers of the last clearings by this object.
    private let own = Locked<[UInt64]>([])
    /// Is held while the file is opened.
    private let opening = BlockingLock(())

    private var path: String { folder + "/ring" }

    init(in folder: String) { self.folder = folder }

    /// The number of the last clearing; 0 while the log is not open. Reads memory only.
    var position: UInt64 { ring.use { $0.last } ?? 0 }

    /// Opens the log, and makes it if it is missing. Blocks.
    ///
    /// If another process has made the file again, the numbers go on from those in it. A file that is made again begins
    /// with the last number that is known here. So no call which is under way takes itself for a later one.
    func open() {
        opening.withLock { _ in
            let present = ring.use { $0 }
            if present?.isInPlace == true { return }
            guard let opened = try? opened(beginningAt: present?.last) else { return }
            withExtendedLifetime(ring.replace(with: opened)) {}
        }
    }

    private func opened(beginningAt last: UInt64?) throws -> RecordRing {
        try Disk.makeFolder(folder)
        return try RecordRing(path, beginningAt: last)
    }

    // MARK: Clearing

    /// Records a clearing. The caller excludes all other threads and processes. Blocks.
    ///
    /// - Parameter resource: the folder of the resource that is cleared; nil if all resources are.
    /// - Returns: the claims of other processes on writes that may not have seen it.
    func add(_ selection: Selection, of resource: String?) throws -> OthersClaims {
        open()
        guard let ring = ring.use({ $0 }) else { return OthersClaims() }
        // No other process can append anything meanwhile.
        own.withLock { $0 = $0.suffix(RecordRing.capacity) + [ring.last &+ 1] }
        try ring.append(ClearingRecord.bytes(of: selection, in: resource, salt: ring.salt))
        return OthersClaims(on: ring, ring.othersClaims(in: ClaimBytes.range(of: selection)))
    }

    /// The claims of other processes that a clearing waits for.
    struct OthersClaims: Sendable {
        private let ring: RecordRing?
        private var bytes: [Range<UInt64>]

        init() { (ring, bytes) = (nil, []) }

        fileprivate init(on ring: RecordRing, _ bytes: [Range<UInt64>]) { (self.ring, self.bytes) = (ring, bytes) }

        var isEmpty: Bool { bytes.isEmpty }

        /// Forgets the claims that have ended. Blocks.
        mutating func look() {
            guard let ring else { return }
            bytes = bytes.flatMap { ring.othersClaims(in: $0) }
        }
    }

    // MARK: Looking

    /// Claims the right to write an entry. Opens the log again if its file was replaced, so it may block for as long as that
    /// takes.
    ///
    /// - Returns: nil if the log is not open, or the file system has no such locks.
    func claim(_ key: Key) -> ByteClaim? {
        if ring.use({ $0.isInPlace }) == false { open() }
        return ring.use { $0 }?.claim(oneOf: ClaimBytes.range(of: .scope(key.scope)))
    }

    /// Returns the clearings after a number. Nil if some of them are not known any more.
    private func records(after number: UInt64) -> (records: [ArraySlice<UInt8>]?, salt: [UInt8])? {
        ring.use { ring in
            // A call that began before the log was opened has no number.
            if number == 0 || ring.last == number { return nil }
            return (ring.records(after: number), ring.salt)
        }
    }

    /// Returns whether a clearing after `number` concerns an entry of a resource's folder with these tags. Reads memory only.
    func concerns(_ key: Key, in folder: String, tags: [String], after number: UInt64) -> Bool {
        guard let (records, salt) = records(after: number) else { return false }
        guard let records else { return true }
        let facts = ClearingRecord.Facts(key, in: folder, tags: tags, salt: salt)
        return records.contains { facts.areConcerned(by: $0) }
    }

    /// Returns whether a clearing after `number` may concern entries of a key whose tags are unknown. Reads memory
    /// only.
    func mayConcern(_ key: Key, in folder: String, after number: UInt64) -> Bool {
        guard let (records, salt) = records(after: number) else { return false }
        guard let records else { return true }
        let facts = ClearingRecord.Facts(key, in: folder, tags: nil, salt: salt)
        return records.contains { facts.areConcerned(by: $0) }
    }

    /// Returns whether another process has cleared anything of a resource's folder after `number`, which becomes the number
    /// of the last clearing. Opens the log again if its file was replaced. Blocks.
    func hasOthers(after number: inout UInt64, in folder: String) -> Bool {
        open()
        let first = number
        number = position
        guard let (records, salt) = records(after: first) else { return false }
        guard let records else { return true }
        let own = Set(own.withLock { $0 })
        return records.enumerated().contains { index, record in
            !own.contains(first + UInt64(index) + 1) && ClearingRecord.isOf(folder, record, salt: salt)
        }
    }
}

/// The bytes that writes claim: a range for the accounts with the same hash.
private enum ClaimBytes {
    /// The number of bytes for one hash. There are so many that no byte is claimed twice.
    private static let each: UInt64 = 1 << 44
    private static let hashes: UInt64 = 1 << 16

    static func range(of selection: Selection) -> Range<UInt64> {
        switch selection {
        case .key(let key): range(hash(key.scope))
        case .scope(let scope): range(hash(scope))
        case .tag, .all: 0..<hashes * each
        }
    }

    private static func range(_ hash: UInt64) -> Range<UInt64> { hash * each..<(hash + 1) * each }

    /// Returns the same number in every process.
    private static func hash(_ scope: String?) -> UInt64 {
        guard let scope else { return 0 }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in scope.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (hash ^ hash >> 32) % hashes
    }
}
