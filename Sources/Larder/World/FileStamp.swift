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

/// What the system tells of a file without reading it. While that stays the same so does the file, unless it was changed
/// so shortly before that the system's clock could not tell.
package struct FileStamp: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    /// When its contents changed: who writes it can set this to any time.
    package var modified: Timestamp
    /// When anything about it changed: nobody can set this.
    package var changed: Timestamp
    package var isFolder: Bool
    /// Whether the name is that of a link: then it may come to lead elsewhere although nothing happens in its folder.
    package var isLinked: Bool

    /// No clock that files are stamped by is coarser.
    private static let coarsest = Duration.seconds(2)

    /// Whether a file that was read at this time or later, and bore this stamp before, bears another when it changes.
    package func isSettled(at time: Timestamp) -> Bool { max(modified, changed) < time - Self.coarsest }
}

extension Disk {
    /// The time by which files are stamped: the system's, whatever the world's is.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(time)
    }

    /// Whether something lies at a path, be it a link that leads nowhere.
    package static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The stamp of what lies at a path; nil when nothing does, or when it is a link that leads nowhere.
    package static func stamp(of path: String) -> FileStamp? { stamp(AT_FDCWD, path) }

    /// What lies in a folder under names that are wanted, with stamps where there are any.
    package static func stamps(
        in path: String, where isWanted: (String) -> Bool
    ) throws(Failure) -> [(name: String, stamp: FileStamp?)] {
        guard let folder = opendir(path) else { throw Failure("list the folder") }
        defer { closedir(folder) }
        var found: [(name: String, stamp: FileStamp?)] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if isWanted(name) { found.append((name, stamp(dirfd(folder), name))) }
        }
        return found
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
            size: Int64(status.st_size), modified: Timestamp(modified), changed: Timestamp(changed),
            isFolder: status.st_mode & S_IFMT == S_IFDIR, isLinked: isLinked)
    }
}

extension Timestamp {
    fileprivate init(_ time: timespec) {
        self.init(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}
