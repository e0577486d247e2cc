import LarderFoundation

/// The file operations that Larder uses: files are read whole, up to a limit, and replaced atomically. Every call
/// blocks.
///
/// Foundation is not used because `Data.write` always syncs, creates files with mode 0666 before the umask, and leaks
/// its descriptor to child processes.
public enum Disk {
    /// An operation that the system refused. Its message names the operation and the reason, but no path.
    public struct Failure: Error, CustomStringConvertible {
        /// The operation, such as `write a file`.
        public let operation: String
        /// The system's number of the reason: an `errno`.
        public let code: Int32

        /// Makes a failure with the code in `errno`.
        public init(_ operation: String) {
            self.init(operation, errno)
        }

        /// The failure of an operation for the reason with this number.
        public init(_ operation: String, _ code: Int32) {
            self.operation = operation
            self.code = code
        }

        /// The operation and the reason.
        public var description: String {
            "cannot \(operation): \(code == Disk.notRegular ? "it is not a regular file" : String(cString: strerror(code)))"
        }
        /// Whether nothing lies at the path, or one of its folders is missing.
        public var isMissing: Bool { code == ENOENT || code == ENOTDIR }
        /// Whether the disk is full, or the quota of this user.
        public var isFull: Bool { code == ENOSPC || code == EDQUOT }
        /// Whether the path leads to a folder or something else that is not a regular file.
        public var isNotFile: Bool { code == EISDIR || code == Disk.notRegular }
        /// Whether the file is larger than the limit of the call.
        public var isTooLarge: Bool { code == Disk.tooLarge }
        /// Whether a link lies at the path, and links are not followed.
        package var isLink: Bool { code == ELOOP }
    }

    /// The code of a failure to read a file that is larger than the limit.
    package static let tooLarge = EFBIG

    /// The code of a failure to write a file where a folder is.
    package static let isFolder = EISDIR

    /// The code of a failure to read something that is neither a file nor a folder, such as a pipe.
    package static let notRegular: Int32 = -1

    /// The code of a failure to find a file.
    package static let missing = ENOENT

    /// The code of a failure because what it is done for has ended.
    package static let closed = ECANCELED

    /// A file or folder inside a folder.
    public struct Item {
        /// The name in its folder.
        public var name: String
        /// Whether it is a folder.
        public var isFolder: Bool
        /// The size in bytes.
        public var size: Int
        /// The time of the last change of its contents, in nanoseconds since 1970.
        public var modified: Int64
    }

    /// Returns the bytes of a file.
    ///
    /// - Throws: ``Failure``, with `EFBIG` if the file is larger than `limit`. ``Failure/isNotFile`` is set if it is not a
    ///   regular file.
    public static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try contents(path, limit: limit).bytes
    }

    /// Returns the bytes of a file, and whether its owner may write to it.
    ///
    /// - Throws: ``Failure``, with `EFBIG` if the file is larger than `limit`. ``Failure/isNotFile`` is set if it is not a
    ///   regular file.
    public static func contents(_ path: String, limit: Int) throws(Failure) -> (bytes: [UInt8], isWritable: Bool) {
        let file = try opened(path, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("read the file", status.st_mode & S_IFMT == S_IFDIR ? EISDIR : notRegular)
        }
        guard Int(clamping: status.st_size) <= limit else { throw Failure("read the file", EFBIG) }
        let isWritable = status.st_mode & S_IWUSR != 0
        return (try rest(of: file, size: Int(clamping: status.st_size), limit: limit), isWritable)
    }

    /// Returns the bytes from the position of an open file, pipe or terminal to its end.
    ///
    /// - Parameter size: the expected number of bytes; nil if it is not known.
    /// - Throws: ``Failure``, with `EFBIG` if there are more than `limit` bytes.
    package static func rest(of file: Int32, size: Int? = nil, limit: Int = .max) throws(Failure) -> [UInt8] {
        // The chunk is one byte larger than the file: if it is not full, the whole file was read.
        let most = 1 << 16
        var chunk = [UInt8](repeating: 0, count: size.map { min(most, max($0 + 1, 512)) } ?? most)
        var bytes: [UInt8] = []
        while true {
            let count = uninterrupted { systemRead(file, into: &chunk, count: chunk.count) }
            if count < 0 { throw Failure("read the file") }
            guard bytes.count + count <= limit else { throw Failure("read the file", EFBIG) }
            if bytes.isEmpty, count < chunk.count, count == size { return Array(chunk[..<count]) }
            if count == 0 { return bytes }
            if bytes.isEmpty, let size { bytes.reserveCapacity(min(size, limit)) }
            bytes += chunk[..<count]
        }
    }

    /// Writes bytes to the target of `path`. A regular file is replaced in one step. A device or pipe is written to.
    package static func put(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let path = realPath(path) ?? path
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let file = try opened(path, O_WRONLY)
            defer { close(file) }
            return try write(bytes, to: file)
        }
        try replace(path, with: [bytes], isPrivate: false)
    }

    /// Opens a file.
    ///
    /// - Parameter operation: the operation in the message of a failure.
    static func opened(
        _ path: String, _ flags: Int32, mode: mode_t = 0o600, else operation: String = "open the file"
    ) throws(Failure) -> Int32 {
        let file = open(path, flags | O_CLOEXEC, mode)
        guard file >= 0 else { throw Failure(operation) }
        return file
    }

    /// Makes a new file, fills it and closes it. Deletes it if that fails.
    static func make(
        _ path: String, mode: mode_t = 0o600, _ fill: (Int32) throws(Failure) -> Void
    ) throws(Failure) {
        let file = try opened(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode, else: "create a file")
        do throws(Failure) { try closing(file, after: fill) } catch {
            unlink(path)
            throw error
        }
    }

    /// Fills an open file and closes it.
    static func closing(_ file: Int32, after fill: (Int32) throws(Failure) -> Void) throws(Failure) {
        do throws(Failure) { try fill(file) } catch {
            close(file)
            throw error
        }
        guard close(file) == 0 else { throw Failure("write the file") }
    }

    /// Makes a system call and repeats it as long as signals interrupt it.
    package static func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// Replaces a file in one step, so that no reader ever sees a part of it.
    ///
    /// - Parameters:
    ///   - modified: the modification time of the file, in nanoseconds since 1970; the present time if nil.
    ///   - isPrivate: whether only its owner may read it.
    ///   - settingAside: called when the new file is written completely and the former one is still in place.
    package static func replace(
        _ path: String, with parts: [[UInt8]], modified: Int64? = nil, isPrivate: Bool = true,
        settingAside: () -> Void = {}
    )
        throws(Failure)
    {
        let draft = try draft(path, with: parts, modified: modified, isPrivate: isPrivate)
        settingAside()
        do throws(Failure) { try draft.putInPlace() } catch {
            draft.discard()
            throw error
        }
    }

    /// A file that is written but not yet in its place.
    public struct Draft {
        fileprivate let temporary: String
        fileprivate let path: String

        /// Puts the draft in its place in one step, replacing the file there.
        ///
        /// - Throws: ``Failure``. The draft then still exists.
        public func putInPlace() throws(Failure) {
            guard rename(temporary, path) == 0 else {
                throw Failure("put the file in place")
            }
        }

        /// Deletes the draft.
        public func discard() { unlink(temporary) }
    }

    /// Writes a file under a temporary name beside its place: `PATH.NUMBER.tmp`.
    public static func draft(
        _ path: String, with parts: [[UInt8]], modified: Int64? = nil, isPrivate: Bool = true
    ) throws(Failure) -> Draft {
        let temporary = path + ".\(UInt32.random(in: .min ... .max)).tmp"
        try make(temporary, mode: isPrivate ? 0o600 : 0o644) { (file) throws(Failure) in
            for part in parts { try write(part, to: file) }
            if let modified { setTime(of: file, modified) }
        }
        return Draft(temporary: temporary, path: path)
    }

    /// Removes the owner's permission to write to a file. The file can still be replaced and removed. Needs no disk
    /// space.
    public static func makeReadOnly(_ path: String) throws(Failure) {
        let (file, found) = try openRegular(path)
        defer { close(file) }
        var status = found
        guard fchmod(file, S_IRUSR) == 0 else { throw Failure("mark the file") }
        // Some file systems have no permissions, but report success.
        guard fstat(file, &status) == 0, status.st_mode & S_IWUSR == 0 else { throw Failure("mark the file", ENOTSUP) }
    }

    /// Writes all bytes to an open file.
    package static func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
        try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try write(bytes, to: file) } }.get()
    }

    static func setTime(of file: Int32, _ time: Int64) {
        let (seconds, nanoseconds) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        let spec = timespec(tv_sec: .init(max(0, seconds)), tv_nsec: .init(max(0, nanoseconds)))
        _ = [spec, spec].withUnsafeBufferPointer { futimens(file, $0.baseAddress) }
    }

    /// Returns the items of a folder in no particular order, including hidden ones.
    public static func list(_ path: String) throws(Failure) -> [Item] {
        guard let folder = opendir(path) else { throw Failure("list the folder") }
        defer { closedir(folder) }
        // An item that cannot be examined, such as a broken link, is listed too.
        return names { readdir(folder) }.map { name in
            item(path + "/" + name, called: name) ?? Item(name: name, isFolder: false, size: 0, modified: 0)
        }
    }

    /// Returns the item at a path, or nil if there is none.
    public static func item(_ path: String, called name: String = "") -> Item? {
        stamp(of: path).map { stamp in
            Item(name: name, isFolder: stamp.isFolder, size: Int(clamping: stamp.size), modified: stamp.modified)
        }
    }

    /// Returns the target of a path with all links followed, or nil if there is none.
    package static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// The name of this machine; nil if it has none.
    package static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes a folder and its missing parents. Only the owner has access to them. An existing folder is left as it is.
    public static func makeFolder(_ path: String, isPrivate: Bool = true) throws(Failure) {
        if makeOneFolder(path, isPrivate) || errno == EEXIST && item(path)?.isFolder == true { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw Failure("make a folder")
        }
        try makeFolder(String(path[..<slash]), isPrivate: isPrivate)
        guard makeOneFolder(path, isPrivate) || errno == EEXIST else { throw Failure("make a folder") }
    }

    /// Makes a folder. Its owner has access to a private one whatever the process's file mode mask is.
    private static func makeOneFolder(_ path: String, _ isPrivate: Bool) -> Bool {
        isPrivate ? mkdir(path, S_IRWXU) == 0 && chmod(path, S_IRWXU) == 0 : mkdir(path, 0o777) == 0
    }

    /// Gives a file a second name, and removes the file that had that name.
    package static func copy(_ path: String, to other: String) throws(Failure) {
        try remove(other)
        guard link(path, other) == 0 else { throw Failure("set a file aside") }
    }

    /// Gives a file another name, replacing the file that had that name. Does nothing if the file does not exist.
    public static func move(_ path: String, to other: String) throws(Failure) {
        guard rename(path, other) == 0 || errno == ENOENT else { throw Failure("move a file") }
    }

    /// Removes a file. Does nothing if the file does not exist.
    public static func remove(_ path: String) throws(Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw Failure("remove a file") }
    }
}
