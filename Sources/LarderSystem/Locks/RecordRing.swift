import LarderFoundation
import Synchronization

/// A file of 16 KB with the last records that processes have appended to it. Records have growing numbers, and a new one
/// takes the place of the oldest.
///
/// The file is mapped for reading, so that the number of the last record costs one read of memory. It is written whole
/// when it is made, so that it has no holes, and it never changes its size.
///
/// `@unchecked Sendable`: the pointer and the descriptor never change, and nothing writes through the pointer.
package final class RecordRing: @unchecked Sendable {
    /// The number of bytes of a record.
    package static let recordSize = 24
    /// The number of records that are kept.
    package static let capacity = (size - headSize) / slotSize

    /// The bytes with which digests in this file begin. They differ from file to file.
    package let salt: [UInt8]

    private static let size = 16_384
    private static let headSize = 32
    /// A record with its number.
    private static let slotSize = recordSize + 8
    private static let head = Array("lardring".utf8)

    private let start: UnsafeMutableRawPointer
    /// The open file. Claims are locks of it: see ``ByteClaims``.
    let file: Int32
    private let path: String
    /// The number of the next claim. It begins anywhere, so that processes claim different bytes.
    let nextClaim = Atomic(UInt64.random(in: .min ... .max))

    /// Opens the file, and makes it if it is missing or is no ring. Blocks.
    ///
    /// - Parameter last: the number with which a new file begins.
    package init(_ path: String, beginningAt last: UInt64?) throws(Disk.Failure) {
        var file = Self.ring(at: path)
        if file == nil {
            if Disk.isThere(path) { try? Disk.removeTree(path) }
            try Disk.createWhole(path, Self.new(beginningAt: last ?? UInt64.random(in: 1...UInt64.max >> 8)))
            file = Self.ring(at: path)
        }
        guard let file else { throw Disk.Failure("open the file") }
        let start = mmap(nil, Self.size, PROT_READ, MAP_SHARED, file, 0)
        guard let start, Int(bitPattern: start) != -1 else {
            let failure = Disk.Failure("map the file")
            close(file)
            throw failure
        }
        (self.file, self.start, self.path) = (file, start, path)
        salt = Array(UnsafeRawBufferPointer(start: start + 16, count: 16))
    }

    deinit {
        munmap(start, Self.size)
        close(file)
    }

    /// Opens a regular file of the right size and kind.
    private static func ring(at path: String) -> Int32? {
        let flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        var file = open(path, O_RDWR | flags)
        if file < 0, errno == EROFS || errno == EACCES { file = open(path, O_RDONLY | flags) }
        guard file >= 0 else { return nil }
        var status = stat()
        var bytes = [UInt8](repeating: 0, count: head.count)
        let isRing =
            fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == size
            && pread(file, &bytes, bytes.count, 0) == bytes.count && bytes == head
        if isRing { return file }
        close(file)
        return nil
    }

    private static func new(beginningAt last: UInt64) -> [UInt8] {
        var bytes = head + Self.bytes(of: last)
        for _ in 0..<2 { bytes += Self.bytes(of: .random(in: .min ... .max)) }
        return bytes + [UInt8](repeating: 0, count: size - headSize)
    }

    private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    /// The number of the last record.
    package var last: UInt64 {
        let number = (start + 8).assumingMemoryBound(to: Atomic<UInt64>.self)
        return UInt64(littleEndian: number.pointee.load(ordering: .acquiring))
    }

    /// Whether the file is still at its path. Blocks.
    package var isInPlace: Bool { Disk.isFile(file, at: path) }

    /// Returns the records after a number, the oldest first. Returns nil if some of them are gone.
    package func records(after number: UInt64) -> [ArraySlice<UInt8>]? {
        let last = last
        guard number <= last, last - number <= UInt64(Self.capacity) else { return nil }
        var records: [ArraySlice<UInt8>] = []
        for next in number..<last {
            let slot = Array(UnsafeRawBufferPointer(start: start + Self.offset(of: next + 1), count: Self.slotSize))
            guard slot.starts(with: Self.bytes(of: next + 1)) else { return nil }
            records.append(slot[8...])
        }
        // A record may have been overwritten while it was read.
        return self.last &- number <= UInt64(Self.capacity) ? records : nil
    }

    private static func offset(of number: UInt64) -> Int {
        headSize + Int(number % UInt64(capacity)) * slotSize
    }

    /// Appends a record. The caller holds a lock that excludes all other writers. Blocks.
    ///
    /// The number of the last record changes after the record is written, so that a process which is killed in between
    /// leaves no record.
    package func append(_ record: [UInt8]) throws(Disk.Failure) {
        let number = last &+ 1
        let slot = Self.bytes(of: number) + record.prefix(Self.recordSize)
        try write(slot, at: Self.offset(of: number))
        try write(Self.bytes(of: number), at: 8)
        // Watchers of the folder notice a file that is closed after it was opened for writing.
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        if file >= 0 { close(file) }
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(Disk.Failure) {
        while true {
            let count = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
            if count == bytes.count { return }
            guard count < 0, errno == EINTR else { throw Disk.Failure("write the file") }
        }
    }
}
