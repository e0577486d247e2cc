import LarderFoundation
import Synchronization

/// A claim on one byte of a file, which other processes see until it is released or this process ends. The file need not
/// have the byte.
package struct ByteClaim: Sendable {
    private let ring: RecordRing
    private let byte: UInt64

    fileprivate init?(_ byte: UInt64, of ring: RecordRing) {
        var lock = FileRange(byte..<byte + 1).lock(Int16(F_RDLCK))
        guard fcntl(ring.file, FileRange.set, &lock) == 0 else { return nil }
        (self.ring, self.byte) = (ring, byte)
    }

    /// Releases the claim.
    package func release() {
        var lock = FileRange(byte..<byte + 1).lock(Int16(F_UNLCK))
        _ = fcntl(ring.file, FileRange.set, &lock)
    }
}

extension RecordRing {
    /// Claims one byte of a range, which nothing else claims. Waits for nothing. Returns nil if the file system has no such
    /// locks.
    package func claim(oneOf bytes: Range<UInt64>) -> ByteClaim? {
        let number = nextClaim.wrappingAdd(1, ordering: .relaxed).newValue
        return ByteClaim(bytes.lowerBound + number % UInt64(bytes.count), of: self)
    }

    /// Returns the claims of other openings of the file in a range of bytes, in any order. Adjacent claims may be one.
    package func othersClaims(in bytes: Range<UInt64>) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = []
        var left = [bytes]
        while let range = left.popLast() {
            guard let claim = firstClaim(in: range) else { continue }
            found.append(claim)
            if range.lowerBound < claim.lowerBound { left.append(range.lowerBound..<claim.lowerBound) }
            if claim.upperBound < range.upperBound { left.append(claim.upperBound..<range.upperBound) }
        }
        return found
    }

    private func firstClaim(in bytes: Range<UInt64>) -> Range<UInt64>? {
        var lock = FileRange(bytes).lock(Int16(F_WRLCK))
        guard fcntl(file, FileRange.get, &lock) == 0, lock.l_type != Int16(F_UNLCK), lock.l_start >= 0 else {
            return nil
        }
        let start = max(UInt64(lock.l_start), bytes.lowerBound)
        let end = lock.l_len > 0 ? UInt64(lock.l_start) + UInt64(lock.l_len) : bytes.upperBound
        return start < min(end, bytes.upperBound) ? start..<min(end, bytes.upperBound) : nil
    }
}

/// A range of bytes of a file, for locks that belong to an opening of the file and not to a process.
private struct FileRange {
    // The commands F_OFD_SETLK and F_OFD_GETLK, which the modules of the C libraries leave out.
    #if canImport(Darwin)
        static let (set, get): (Int32, Int32) = (90, 92)
    #else
        static let (set, get): (Int32, Int32) = (37, 36)
    #endif

    let bytes: Range<UInt64>

    init(_ bytes: Range<UInt64>) { self.bytes = bytes }

    func lock(_ kind: Int16) -> flock {
        var lock = flock()
        lock.l_type = kind
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(bytes.lowerBound)
        lock.l_len = off_t(bytes.count)
        return lock
    }
}
