import LarderFoundation

/// The bytes of a file in this process's address space. The system reads them from the file when they are used, and
/// they take no memory that it could not free at once.
///
/// The bytes stay readable when the file is deleted or replaced. If another program shortens the file, reading the
/// missing bytes ends the process.
///
/// `@unchecked Sendable`: the pointer never changes, and nothing writes through it.
package final class MappedFile: @unchecked Sendable {
    /// The bytes. They are valid as long as this object lives.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Maps the first `size` bytes of an open file.
    ///
    /// The pages are writable and private: `Data` changes the bytes of its only owner in place, and such a change
    /// reaches neither the file nor another reader.
    init(_ file: Int32, size: Int) throws(Disk.Failure) {
        guard size > 0 else {
            bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            return
        }
        let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0)
        guard let start, Int(bitPattern: start) != -1 else { throw Disk.Failure("map the file") }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(start, bytes.count) }
    }
}

extension Disk {
    /// Opens a regular file for reading. Follows no link.
    ///
    /// - Returns: the descriptor and the facts about the file.
    static func openRegular(_ path: String) throws(Failure) -> (file: Int32, status: stat) {
        let file = try opened(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        do throws(Failure) {
            return (file, try examined(file))
        } catch {
            close(file)
            throw error
        }
    }

    /// Returns the first bytes of a regular file, at most `count`. Follows no link.
    public static func prefix(of path: String, _ count: Int) throws(Failure) -> [UInt8] {
        let file = try openRegular(path).file
        defer { close(file) }
        return try bytes(of: file, from: 0, count: count)
    }

    /// Makes a file with these bytes, which only its owner can read and write. There must be no file at the path.
    public static func create(_ path: String, with bytes: UnsafeRawBufferPointer) throws(Failure) {
        try make(path) { (file) throws(Failure) in
            // The process's mask may take rights from the owner, too.
            guard fchmod(file, S_IRUSR | S_IWUSR) == 0 else { throw Failure("create a file") }
            try write(bytes, to: file)
        }
    }

    /// Copies a file to a path at which there must be none. Only its owner can read and write the copy.
    static func copyContents(of path: String, to other: String) throws(Failure) {
        try make(other) { (file) throws(Failure) in
            guard fchmod(file, S_IRUSR | S_IWUSR) == 0 else { throw Failure("create a file") }
            var offset = 0
            while case let bytes = try part(of: path, from: offset, most: 1 << 20).bytes, !bytes.isEmpty {
                try write(bytes, to: file)
                offset += bytes.count
            }
        }
    }

    /// Writes all bytes to an open file.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = systemWrite(file, from: rest.baseAddress, count: min(rest.count, 1 << 30))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure("write the file") }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
