import LarderFoundation

/// The facts about a file that the system gives without reading it.
///
/// A file whose stamp is the same has not changed, unless two changes followed each other faster than the clock of the
/// file system can tell. See `isReliable(at:)`.
public struct FileStamp: Sendable, Hashable {
    /// The number of the file system.
    public var device: UInt64
    /// The number of the file on its file system.
    public var inode: UInt64
    /// The size in bytes.
    public var size: Int64
    /// The time of the last change of its contents, in nanoseconds since 1970. A program can set it to any time.
    public var modified: Int64
    /// The time of the last change of anything about it, in nanoseconds since 1970. Programs cannot set it.
    public var changed: Int64
    /// Whether it is a folder.
    public var isFolder: Bool
    /// Whether the name is a link. Its target may then change without any change in its folder.
    public var isLinked: Bool

    /// Returns whether both are about the same file.
    public func isOfSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    /// The coarsest resolution of a file system's clock, in nanoseconds.
    private static let coarsest = Int64(2_000_000_000)

    /// Returns whether every change after `time` changes this stamp, because the last change was long enough before.
    package func isReliable(at time: Int64) -> Bool { max(modified, changed) < time &- Self.coarsest }
}

extension Disk {
    /// The system's wall time in nanoseconds since 1970, by which files are stamped. It is the same in every world.
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    /// Returns whether there is anything at a path, including a broken link.
    package static func isThere(_ path: String) -> Bool {
        kind(of: path) != nil
    }

    /// Returns the stamp of the item at a path, or nil if there is none or it is a broken link.
    public static func stamp(of path: String) -> FileStamp? { stamp(AT_FDCWD, path) }

    /// Returns the items of a folder whose names are wanted, each with its stamp or nil for a broken link.
    package static func stamps(
        in path: String, where isWanted: (String) -> Bool
    ) throws(Failure) -> [(name: String, stamp: FileStamp?)] {
        guard let folder = opendir(path) else { throw Failure("list the folder") }
        defer { closedir(folder) }
        let names = names { readdir(folder) }.filter(isWanted)
        // The system takes a microsecond or two for each file, and several threads do not disturb each other.
        return ParallelMap.results(for: names.count, inRangesOf: 500) { [names, file = dirfd(folder)] range in
            names[range].map { ($0, stamp(file, $0)) }
        }
    }

    /// Returns the names of the items that `next` returns one by one, without those of the folder itself and its parent.
    static func names(_ next: () -> UnsafeMutablePointer<dirent>?) -> [String] {
        var names: [String] = []
        while let entry = next() {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    private static func stamp(_ folder: Int32, _ path: String) -> FileStamp? {
        var status = stat()
        guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        let isLinked = status.st_mode & S_IFMT == S_IFLNK
        if isLinked, fstatat(folder, path, &status, 0) != 0 { return nil }
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        return FileStamp(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size), modified: nanoseconds(modified), changed: nanoseconds(changed),
            isFolder: status.st_mode & S_IFMT == S_IFDIR, isLinked: isLinked)
    }
}
