import LarderFoundation

extension Disk {
    /// Returns when the contents of a file or folder will survive a power failure. Does nothing if it does not exist.
    public static func sync(_ path: String) throws(Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw Failure("open the file")
        }
        defer { close(file) }
        try flush(file)
    }

    /// Waits until the contents of an open file or folder will survive a power failure.
    private static func flush(_ file: Int32) throws(Failure) {
        #if canImport(Darwin)
            // There, fsync leaves the bytes in the memory of the drive. Not every file system can do more.
            if fcntl(file, F_FULLFSYNC) == 0 { return }
            guard errno == ENOTSUP || errno == EINVAL else { throw Failure("write the file") }
        #endif
        guard fsync(file) == 0 else { throw Failure("write the file") }
    }

    /// Replaces a file in one step. When it returns, the contents will survive a power failure. For the name to
    /// survive, the folder must be synced too.
    package static func replaceDurably(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let temporary = path + temporarySuffix
        unlink(temporary)
        try make(temporary) { (file) throws(Failure) in try fill(file, with: bytes) }
        guard rename(temporary, path) == 0 else {
            let failure = Failure("put the file in place")
            unlink(temporary)
            throw failure
        }
    }

    /// The suffix of a file that ``replaceDurably(_:with:)`` has not finished.
    package static let temporarySuffix = ".new"

    /// Makes a file of zeros whose space can be used when the disk is full. An existing file of the right size stays.
    public static func reserve(_ path: String, size: Int) throws(Failure) {
        let zeros = [UInt8](repeating: 0, count: size)
        if (try? read(path, limit: size)) == zeros { return }
        try replaceDurably(path, with: zeros)
    }

    /// Overwrites a reserved file, which needs no space on the disk, and gives it another name. The rest of the file is
    /// filled with line ends.
    package static func use(reserved: String, as path: String, for bytes: [UInt8]) throws(Failure) {
        guard let size = item(reserved)?.size, bytes.count <= size else { throw Failure("write the file", ENOSPC) }
        let file = try opened(reserved, O_WRONLY | O_NOFOLLOW)
        // The file keeps its size: if it were emptied first, another file could take its space.
        try closing(file) { (file) throws(Failure) in
            try fill(file, with: bytes + [UInt8](repeating: UInt8(ascii: "\n"), count: size - bytes.count))
        }
        guard rename(reserved, path) == 0 else { throw Failure("put the file in place") }
    }

    /// Writes all bytes, and waits until they will survive a power failure.
    private static func fill(_ file: Int32, with bytes: [UInt8]) throws(Failure) {
        try write(bytes, to: file)
        try flush(file)
    }

    /// Returns the bytes of a file from `offset` on, or all of them if the file is another one than before.
    ///
    /// - Parameters:
    ///   - head: the expected beginning of the file. If the file begins differently, or `head` is empty, the whole file
    ///     is read.
    ///   - limit: the largest size that is accepted.
    /// - Returns: the bytes, and whether they are the whole file.
    package static func tail(
        of path: String, from offset: Int, after head: [UInt8], limit: Int
    ) throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
        let (file, status) = try openRegular(path)
        defer { close(file) }
        let size = Int(clamping: status.st_size)
        guard size <= limit else { throw Failure("read the file", EFBIG) }
        var isWhole = head.isEmpty || size < offset
        if !isWhole { isWhole = try bytes(of: file, from: 0, count: head.count) != head }
        let start = isWhole ? 0 : offset
        return (try bytes(of: file, from: start, count: size - start), isWhole)
    }

    static func bytes(of file: Int32, from start: Int, count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(start + filled))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw Failure("read the file") }
            if read == 0 { break }
            filled += read
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Adds bytes at the end of a file, all of them or none. The file is made if it is missing.
    package static func append(_ bytes: [UInt8], to path: String) throws(Failure) {
        let file = try opened(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW)
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("write the file", EINVAL) }
        do throws(Failure) { try write(bytes, to: file) } catch {
            _ = ftruncate(file, status.st_size)
            throw error
        }
    }
}
