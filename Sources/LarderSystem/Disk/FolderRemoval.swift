import LarderFoundation

/// The removal of whole folders. No link is followed, even one that another program puts there meanwhile.
extension Disk {
    /// Moves the item with this name out of the folder that contains it, to another path.
    ///
    /// - Returns: whether there was such an item.
    /// - Throws: ``Failure``, with `ELOOP` or `ENOTDIR` if the folder that contains it is a link.
    package static func take(_ name: String, outOf holder: String, to path: String) throws(Failure) -> Bool {
        let folder = open(holder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else {
            if errno == ENOENT { return false }
            throw Failure("open the folder")
        }
        defer { close(folder) }
        guard renameat(folder, name, AT_FDCWD, path) == 0 else {
            if errno == ENOENT { return false }
            throw Failure("move a folder")
        }
        return true
    }

    /// Removes a folder if it is empty.
    package static func removeEmptyFolder(_ path: String) {
        rmdir(path)
    }

    /// Removes the item at a path, with its contents if it is a folder. Does nothing if there is none.
    package static func removeTree(_ path: String) throws(Failure) {
        if unlink(path) == 0 || errno == ENOENT { return }
        // However deep the folders are nested, only two are open at a time: inner folders are moved to the top first.
        for _ in 0..<mostRounds {
            let root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard root >= 0 else {
                if errno == ENOENT { return }
                throw Failure("open the folder")
            }
            defer { close(root) }
            var isEmpty = true
            for name in try names(in: root) {
                isEmpty = false
                if unlinkat(root, name, 0) == 0 || errno == ENOENT { continue }
                try removeFolder(name, in: root)
            }
            guard isEmpty else { continue }
            guard rmdir(path) == 0 || errno == ENOENT else { throw Failure("remove a folder") }
            return
        }
        throw Failure("remove a folder", ENOTEMPTY)
    }

    /// The largest number of rounds. Without it, removal would never end while another program keeps adding files.
    private static let mostRounds = 100_000

    private static func removeFolder(_ name: [CChar], in root: Int32) throws(Failure) {
        if unlinkat(root, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
        let folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else {
            if errno == ENOENT { return }
            throw Failure("remove a file")
        }
        defer { close(folder) }
        for child in try names(in: folder) {
            if unlinkat(folder, child, 0) == 0 || errno == ENOENT { continue }
            if unlinkat(folder, child, AT_REMOVEDIR) == 0 || errno == ENOENT { continue }
            guard renameat(folder, child, root, randomName()) == 0 || errno == ENOENT else {
                throw Failure("remove a folder")
            }
        }
        guard unlinkat(root, name, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTEMPTY else {
            throw Failure("remove a folder")
        }
    }

    /// Returns the names of the items in a folder as the system gives them. They need not be UTF-8.
    private static func names(in folder: Int32) throws(Failure) -> [[CChar]] {
        // `closedir` closes the descriptor of the list, so the list gets one of its own.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let list = fdopendir(copy) else { throw Failure("list the folder") }
        defer { closedir(list) }
        let (dot, end) = (CChar(bitPattern: UInt8(ascii: ".")), CChar(0))
        var names: [[CChar]] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            if name != [dot, end], name != [dot, dot, end] { names.append(name) }
        }
        return names
    }
}
