import LarderFoundation

// Reading and overwriting parts of files.
extension Disk {
    /// Returns at most `count` bytes of a file from `offset` on, and whether its owner may write to it.
    ///
    /// - Throws: ``Failure``, with `EISDIR` if it is not a regular file.
    public static func part(
        of path: String, from offset: Int, most count: Int
    ) throws(Failure) -> (bytes: [UInt8], isWritable: Bool) {
        let file = try opened(path, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        let status = try examined(file)
        let there = max(0, min(count, Int(clamping: status.st_size) - offset))
        return (try bytes(of: file, from: offset, count: there), status.st_mode & S_IWUSR != 0)
    }

    /// Overwrites a part of a file. This needs no disk space, except on file systems that never write in place. The file
    /// keeps its size, and its owner may write to it afterwards. Concurrent readers can see a part of the new bytes.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - offset: the place of the first byte that is overwritten.
    ///   - bytes: the new bytes.
    ///   - modified: the modification time of the file, in nanoseconds since 1970.
    /// - Throws: ``Failure``, with `EFBIG` if the part is not inside the file, and `EISDIR` if it is not a regular file.
    public static func overwrite(
        _ path: String, at offset: Int, with bytes: [UInt8], modified: Int64
    ) throws(Failure) {
        let reading = try opened(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        defer { close(reading) }
        let status = try examined(reading)
        guard offset >= 0, offset + bytes.count <= Int(clamping: status.st_size) else {
            throw Failure("write the file", EFBIG)
        }
        let wasReadOnly = status.st_mode & S_IWUSR == 0
        if wasReadOnly, fchmod(reading, S_IRUSR | S_IWUSR) != 0 { throw Failure("unmark the file") }
        do throws(Failure) {
            let file = try opened(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
            defer { close(file) }
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    pwrite(
                        file, buffer.baseAddress?.advanced(by: written), buffer.count - written,
                        off_t(offset + written))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Failure("write the file") }
                written += count
            }
            setTime(of: file, modified)
        } catch {
            if wasReadOnly { _ = fchmod(reading, S_IRUSR) }
            throw error
        }
    }

    /// Returns the facts about an open file.
    ///
    /// - Throws: ``Failure`` if it is no regular file.
    static func examined(_ file: Int32) throws(Failure) -> stat {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("read the file", EISDIR) }
        return status
    }
}
