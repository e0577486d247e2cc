import LarderFoundation

// Items that other programs have put in the place of a file.
extension Disk {
    /// Returns whether there is anything but a regular file at a path, such as a folder, a pipe or a link.
    public static func isForeign(_ path: String) -> Bool {
        kind(of: path).map { $0 != S_IFREG } ?? false
    }

    /// Gives anything but a regular file at a path a new name in its folder: `PATH.aside-NUMBER`. Links are not followed.
    public static func setAsideForeign(_ path: String) throws(Failure) {
        if isForeign(path) { try setAside(path) }
    }

    /// Gives anything but a folder at a path a new name beside it, and makes the folder. Links are not followed.
    public static func makeOwnedFolder(_ path: String) throws(Failure) {
        if let kind = kind(of: path), kind != S_IFDIR { try setAside(path) }
        try makeFolder(path)
    }

    private static func setAside(_ path: String) throws(Failure) { try move(path, to: path + ".aside-" + randomName()) }

    /// Returns the kind of the item at a path; nil if there is none.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Returns the free bytes of the file system of a folder; 0 if they are not known.
    public static func freeSpace(_ folder: String) -> Int {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return 0 }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
