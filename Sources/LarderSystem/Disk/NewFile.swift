import LarderFoundation

/// A file that is being written. If the process ends before the file is complete, nothing of it is left.
///
/// Where the system can, the file has no name. Elsewhere it has one in the folder and is locked, so that
/// ``removeRemains(in:)`` of another process deletes it when this one has ended.
package struct NewFile: Sendable {
    private let descriptor: Int32
    /// The name; nil if there is none.
    private let path: String?

    /// Makes an empty file that only its owner can read.
    ///
    /// - Parameter canBeUnnamed: whether the file may have no name.
    package init(in folder: String, canBeUnnamed: Bool = true) throws(Disk.Failure) {
        #if os(Linux) || os(Android)
            // Swift does not import O_TMPFILE.
            let unnamed = 0o20_000_000 | O_DIRECTORY
            let file = canBeUnnamed ? open(folder, O_RDWR | unnamed | O_CLOEXEC, 0o600) : -1
            if file >= 0 {
                (descriptor, path) = (file, nil)
                return
            }
        #endif
        let name = folder + "/" + Self.prefix + Disk.randomName()
        descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        path = name
        guard descriptor >= 0 else { throw Disk.Failure("create a file") }
        // Some file systems have no locks. The file may then be deleted too early, which is harmless: it is copied.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    private static let prefix = "payload-"

    /// Adds bytes at the end. Blocks.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(Disk.Failure) {
        try Disk.write(bytes, to: descriptor)
    }

    /// Returns the complete file. It must not be used through this value any more.
    package func finished() throws(Disk.Failure) -> SharedFile {
        do throws(Disk.Failure) {
            return try SharedFile(taking: descriptor, temporary: path)
        } catch {
            if let path { unlink(path) }
            throw error
        }
    }

    /// Deletes the file.
    package func discard() {
        close(descriptor)
        if let path { unlink(path) }
    }

    /// Deletes the files of processes that have ended.
    package static func removeRemains(in folder: String) {
        // Looking first is faster than making an error.
        guard access(folder, F_OK) == 0 else { return }
        for item in (try? Disk.list(folder)) ?? [] where item.name.hasPrefix(prefix) {
            let path = folder + "/" + item.name
            if !Disk.isHeld(path) { unlink(path) }
        }
    }
}
