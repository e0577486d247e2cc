#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(SwiftOverlayShims)
    // Where `timespec` comes from once another module has imported it.
    import SwiftOverlayShims
#endif

/// Files, as Larder uses them: whole ones, read up to a limit and replaced atomically. Every call blocks.
///
/// Foundation's ways would do, but `Data.write` always syncs, is readable by all before the umask and leaks its
/// descriptor to child processes.
package enum Disk {
    /// An operation the system refused. Its message names the operation and the reason, and no path.
    package struct Failure: Error, CustomStringConvertible {
        package let operation: String
        package let code: Int32

        package init(_ operation: String, _ code: Int32 = errno) {
            self.operation = operation
            self.code = code
        }

        package var description: String { "cannot \(operation): \(String(cString: strerror(code)))" }
        package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
        /// Whether there is no room left, on the disk or for this user.
        package var isFull: Bool { code == ENOSPC || code == EDQUOT }
        /// Whether a folder, or nothing that can be read, lies where a file should.
        package var isNoFile: Bool { code == EISDIR }
    }

    /// The code of the failure to read a file that is larger than the limit.
    package static let tooLarge = EFBIG

    /// The code of the failure to write a file where a folder is.
    package static let isFolder = EISDIR

    /// The code of the failure to find a file.
    package static let missing = ENOENT

    /// What a folder holds under one name.
    package struct Item {
        package var name: String
        package var isFolder: Bool
        package var size: Int
        package var modified: Timestamp
    }

    /// The bytes of a file.
    ///
    /// - Throws: ``Failure``; `EFBIG` when it is larger than `limit`, `EISDIR` when it is no regular file.
    package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        try contents(path, limit: limit).bytes
    }

    /// The bytes of a file, and whether its owner may write to it.
    ///
    /// - Throws: the same.
    static func contents(_ path: String, limit: Int) throws(Failure) -> (bytes: [UInt8], isWritable: Bool) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Failure("open the file") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("read the file", EISDIR) }
        guard Int(clamping: status.st_size) <= limit else { throw Failure("read the file", EFBIG) }
        // One byte more than there should be: what is filled up to less has been read to its end.
        var chunk = [UInt8](repeating: 0, count: min(1 << 16, max(Int(clamping: status.st_size) + 1, 512)))
        let isWritable = status.st_mode & S_IWUSR != 0
        var bytes: [UInt8] = []
        while true {
            let count = uninterrupted { Self.read(file, into: &chunk) }
            if count < 0 { throw Failure("read the file") }
            guard bytes.count + count <= limit else { throw Failure("read the file", EFBIG) }
            if bytes.isEmpty, count < chunk.count, count == Int(clamping: status.st_size) {
                return (Array(chunk[..<count]), isWritable)
            }
            if count == 0 { return (bytes, isWritable) }
            bytes += chunk[..<count]
        }
    }

    /// The byte at a place of a file; nil if there is none.
    static func read(_ path: String, from offset: Int) throws(Failure) -> UInt8? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Failure("open the file") }
        defer { close(file) }
        var byte: UInt8 = 0
        return pread(file, &byte, 1, off_t(offset)) == 1 ? byte : nil
    }

    /// Puts bytes where `path` leads: in the place of a file there, in one step, or into a device or pipe.
    package static func put(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let path = realPath(path) ?? path
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let file = open(path, O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { throw Failure("open the file") }
            defer { close(file) }
            return try write(bytes, to: file)
        }
        try replace(path, with: [bytes], isPrivate: false)
    }

    /// Makes a call of the system, again and again while a signal interrupts it.
    static func uninterrupted(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func read(_ file: Int32, into chunk: inout [UInt8]) -> Int {
        chunk.withUnsafeMutableBytes { buffer in
            #if canImport(Darwin)
                Darwin.read(file, buffer.baseAddress, buffer.count)
            #elseif canImport(Glibc)
                Glibc.read(file, buffer.baseAddress, buffer.count)
            #else
                Musl.read(file, buffer.baseAddress, buffer.count)
            #endif
        }
    }

    /// Replaces a file in one step, so that nobody ever sees half of it.
    ///
    /// - Parameters:
    ///   - modified: the time the file shall bear; now, if nil.
    ///   - isPrivate: whether only its owner may read it.
    ///   - settingAside: called when the new file is whole and the former one still in place.
    package static func replace(
        _ path: String, with parts: [[UInt8]], modified: Timestamp? = nil, isPrivate: Bool = true,
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

    /// A file that is written and not in its place yet.
    struct Draft {
        fileprivate let temporary: String
        fileprivate let path: String

        /// Replaces what lies in its place, in one step.
        ///
        /// - Throws: ``Failure``; then the draft is there still.
        func putInPlace() throws(Failure) {
            guard rename(temporary, path) == 0 else {
                throw Failure("put the file in place")
            }
        }

        /// Deletes the draft.
        func discard() { unlink(temporary) }
    }

    /// Writes a file under another name beside its place: `PATH.NUMBER.tmp`.
    static func draft(
        _ path: String, with parts: [[UInt8]], modified: Timestamp? = nil, isPrivate: Bool = true
    ) throws(Failure) -> Draft {
        let temporary = path + ".\(UInt32.random(in: .min ... .max)).tmp"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
        guard file >= 0 else { throw Failure("create a file") }
        do throws(Failure) {
            do throws(Failure) {
                for part in parts { try write(part, to: file) }
            } catch {
                close(file)
                throw error
            }
            if let modified { setTime(of: file, modified) }
            guard close(file) == 0 else { throw Failure("write the file") }
        } catch {
            unlink(temporary)
            throw error
        }
        return Draft(temporary: temporary, path: path)
    }

    /// Takes from a file's owner the permission to write to it; it can still be replaced and removed. That needs no room.
    static func makeReadOnly(_ path: String) throws(Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { throw Failure("open the file") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("examine the file") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("mark the file", EISDIR) }
        guard fchmod(file, S_IRUSR) == 0 else { throw Failure("mark the file") }
        // Some file systems know no permissions, and do not say so.
        guard fstat(file, &status) == 0, status.st_mode & S_IWUSR == 0 else { throw Failure("mark the file", ENOTSUP) }
    }

    static func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    Darwin.write(file, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                #elseif canImport(Glibc)
                    Glibc.write(file, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                #else
                    Musl.write(file, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure("write the file") }
            written += count
        }
    }

    private static func setTime(of file: Int32, _ time: Timestamp) {
        let (seconds, nanoseconds) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let spec = timespec(tv_sec: .init(max(0, seconds)), tv_nsec: .init(max(0, nanoseconds)))
        _ = [spec, spec].withUnsafeBufferPointer { futimens(file, $0.baseAddress) }
    }

    /// What a folder holds, in no order; hidden items too.
    package static func list(_ path: String) throws(Failure) -> [Item] {
        guard let folder = opendir(path) else { throw Failure("list the folder") }
        defer { closedir(folder) }
        var items: [Item] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            // What cannot be examined, such as a link to nowhere, is there all the same.
            let unknown = Item(name: name, isFolder: false, size: 0, modified: Timestamp(nanoseconds: 0))
            items.append(item(path + "/" + name, called: name) ?? unknown)
        }
        return items
    }

    /// What lies at a path; nil when nothing does.
    package static func item(_ path: String, called name: String = "") -> Item? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return Item(
            name: name, isFolder: status.st_mode & S_IFMT == S_IFDIR, size: Int(clamping: status.st_size),
            modified: Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)))
    }

    /// Where a path leads, every link followed; nil when nothing lies there.
    package static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// What this machine is called; nil if it has no name.
    package static var hostName: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes a folder and those above it, for the owner alone.
    package static func makeFolder(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST && item(path)?.isFolder == true { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw Failure("make a folder")
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure("make a folder") }
    }

    /// What would keep this process from writing to a folder, which need not be there yet; nil if nothing would.
    package static func whyNotWritable(_ folder: String) -> Failure? {
        guard let item = item(folder) else {
            let above = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
            return isThere(folder) ? Failure("make a folder", EEXIST) : above == folder ? nil : whyNotWritable(above)
        }
        if !item.isFolder { return Failure("make a folder", ENOTDIR) }
        return access(folder, W_OK | X_OK) == 0 ? nil : Failure("write to the folder")
    }

    /// Gives a file a second name, in the place of what bears it. Under its first it stays until that is replaced.
    package static func copy(_ path: String, to other: String) throws(Failure) {
        try remove(other)
        guard link(path, other) == 0 else { throw Failure("set a file aside") }
    }

    /// Gives a file another name, in the place of what bears it; nothing happens if there is no such file.
    package static func move(_ path: String, to other: String) throws(Failure) {
        guard rename(path, other) == 0 || errno == ENOENT else { throw Failure("move a file") }
    }

    /// Removes a file; one that is not there counts as removed.
    package static func remove(_ path: String) throws(Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw Failure("remove a file") }
    }
}
