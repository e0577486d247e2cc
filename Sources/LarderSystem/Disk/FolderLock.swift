import LarderFoundation

// Locks of a folder itself, which need no file in it. They end with the process that holds them.
extension Disk {
    /// Runs `body` while it shares a folder, so that no other thread or process is ``alone(in:_:)`` there. Waits at most a
    /// second for one that is. Runs `body` all the same after that, or if the folder cannot be locked. Blocks.
    public static func sharing<Result>(_ folder: String, _ body: () throws -> Result) rethrows -> Result {
        let file = openFolder(folder)
        defer { if file >= 0 { unlock(file) } }
        var tries = 0
        while file >= 0, flock(file, LOCK_SH | LOCK_NB) != 0, errno == EINTR || errno == EWOULDBLOCK, tries < 1_000 {
            tries += 1
            usleep(1_000)
        }
        return try body()
    }

    /// Runs `body` unless another thread or process shares the folder or is alone there. Meanwhile none does. Also runs
    /// `body` if the folder cannot be locked. Blocks.
    ///
    /// - Returns: the result of `body`; nil if it was not run.
    public static func alone<Result>(in folder: String, _ body: () throws -> Result) rethrows -> Result? {
        let file = openFolder(folder)
        defer { if file >= 0 { unlock(file) } }
        if file >= 0 {
            while flock(file, LOCK_EX | LOCK_NB) != 0 {
                if errno == EWOULDBLOCK { return nil }
                if errno != EINTR { break }
            }
        }
        return try body()
    }

    private static func openFolder(_ path: String) -> Int32 { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
}
