#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(SwiftOverlayShims)
    // Where `stat` comes from once another module has imported it.
    import SwiftOverlayShims
#endif

extension Disk {
    /// Returns when what a file or folder holds will outlast a power failure. One that is not there is no failure.
    static func sync(_ path: String) throws(Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw Failure("open the file")
        }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Failure("write the file") }
    }

    /// Replaces a file in one step. When it returns, the file will outlast a power failure; its folder must be synced for
    /// its name.
    static func replaceDurably(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let temporary = path + temporarySuffix
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure("create a file") }
        do throws(Failure) {
            try fill(file, with: bytes)
            guard rename(temporary, path) == 0 else { throw Failure("put the file in place") }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The ending of the name of a file that ``replaceDurably(_:with:)`` has not finished.
    static let temporarySuffix = ".new"

    /// Makes a file of zeros, for what must be written when the disk is full. One that is there and whole stays.
    static func reserve(_ path: String, size: Int) throws(Failure) {
        if (try? read(path, limit: size))?.elementsEqual(repeatElement(0, count: size)) == true { return }
        try replaceDurably(path, with: [UInt8](repeating: 0, count: size))
    }

    /// Puts bytes in the place of a reserved file's, which needs no room on the disk, and gives it another name.
    static func use(reserved: String, as path: String, for bytes: [UInt8]) throws(Failure) {
        guard let size = item(reserved)?.size, bytes.count <= size else { throw Failure("write the file", ENOSPC) }
        let file = open(reserved, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Failure("open the file") }
        // Only then is it shorter: a file that is emptied first may find that its room is taken.
        try fill(file, with: bytes + [UInt8](repeating: UInt8(ascii: "\n"), count: size - bytes.count))
        guard rename(reserved, path) == 0 else { throw Failure("put the file in place") }
    }

    /// Writes all bytes and closes the file when they will outlast a power failure.
    private static func fill(_ file: Int32, with bytes: [UInt8]) throws(Failure) {
        do throws(Failure) {
            try write(bytes, to: file)
            guard fsync(file) == 0 else { throw Failure("write the file") }
        } catch {
            close(file)
            throw error
        }
        guard close(file) == 0 else { throw Failure("write the file") }
    }

    /// Returns the bytes of a file from `offset` on.
    ///
    /// - Parameters:
    ///   - head: what the file should begin with. If it does not, or `head` is empty, everything is read.
    ///   - limit: how large the file may be.
    static func tail(
        of path: String, from offset: Int, after head: [UInt8], limit: Int
    ) throws(Failure) -> (bytes: [UInt8], isWhole: Bool) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { throw Failure("open the file") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("read the file", EISDIR) }
        let size = Int(clamping: status.st_size)
        guard size <= limit else { throw Failure("read the file", EFBIG) }
        var isWhole = head.isEmpty || size < offset
        if !isWhole { isWhole = try bytes(of: file, from: 0, count: head.count) != head }
        let start = isWhole ? 0 : offset
        return (try bytes(of: file, from: start, count: size - start), isWhole)
    }

    private static func bytes(of file: Int32, from start: Int, count: Int) throws(Failure) -> [UInt8] {
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

    /// Adds bytes at the end of a file, which is made if need be: all of them, or none.
    static func append(_ bytes: [UInt8], to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure("open the file") }
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
