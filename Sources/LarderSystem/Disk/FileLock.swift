import LarderFoundation

extension Disk {
    /// Runs `body` while it holds a lock file, which excludes all other threads and processes. Makes the file if it is
    /// missing. Blocks.
    ///
    /// - Throws: ``Failure`` if the lock was not free within the limit, or the error of `body`.
    public static func locked<Result>(
        _ path: String, within limit: Duration = .seconds(5), _ body: () throws -> Result
    ) throws -> Result {
        while true {
            let file = try openLock(path)
            defer { unlock(file) }
            var tries = 0
            while flock(file, LOCK_EX | LOCK_NB) != 0 {
                // A stopped process may hold the lock for ever.
                guard errno == EINTR || errno == EWOULDBLOCK && .milliseconds(tries) < limit else {
                    throw Failure("lock a file")
                }
                tries += 1
                usleep(1_000)
            }
            // If the file was replaced meanwhile, the new file is the lock.
            if isFile(file, at: path) { return try body() }
        }
    }

    private static func openLock(_ path: String) throws(Failure) -> Int32 {
        var file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file < 0, errno == EROFS || errno == EACCES { file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard file >= 0 else { throw Failure("open the file") }
        return file
    }

    /// Releases a lock and closes its file. Closing alone would not release it while a program that another thread is
    /// starting still has the file.
    static func unlock(_ file: Int32) {
        flock(file, LOCK_UN)
        close(file)
    }

    static func isFile(_ file: Int32, at path: String) -> Bool {
        var own = stat()
        var there = stat()
        return fstat(file, &own) == 0 && lstat(path, &there) == 0
            && own.st_ino == there.st_ino && own.st_dev == there.st_dev
    }

    /// A file that stays locked as long as this object and its process live, so that other processes can see whether
    /// they do.
    public final class HeldFile: Sendable {
        /// The name in its folder.
        public let name: String
        private let file: Int32
        private let path: String

        /// Makes a file in `folder`, under a new name that begins with `prefix`.
        public convenience init(in folder: String, prefix: String) throws(Failure) {
            try self.init(in: folder, named: prefix + Disk.randomName())
        }

        /// Makes a file in `folder`, in place of one with this name.
        package init(in folder: String, named name: String) throws(Failure) {
            self.name = name
            path = folder + "/" + name
            // It gets its name when it is locked, so that nobody sees it before.
            let draft = folder + "/" + Disk.randomName() + Disk.temporarySuffix
            file = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw Failure("create a file") }
            guard flock(file, LOCK_EX | LOCK_NB) == 0, rename(draft, path) == 0 else {
                let failure = Failure("lock a file")
                Disk.unlock(file)
                unlink(draft)
                throw failure
            }
        }

        /// Locks a file that is always the same, and makes it if it is missing. Returns nil if somebody else has locked it.
        public convenience init?(locking path: String) throws(Failure) {
            let file = try Disk.openLock(path)
            guard flock(file, LOCK_EX | LOCK_NB) == 0, Disk.isFile(file, at: path) else {
                close(file)
                return nil
            }
            self.init(locked: file, path)
        }

        private init(locked file: Int32, _ path: String) {
            (self.file, self.path) = (file, path)
            name = path.split(separator: "/").last.map { String($0) } ?? ""
        }

        deinit { Disk.unlock(file) }

        /// Opens the file for writing and closes it, which watchers of its folder notice. Does nothing if it is gone.
        public func touch() {
            let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            if file >= 0 { close(file) }
        }

        /// Whether the file is still where it was made.
        public var isInPlace: Bool { Disk.isFile(file, at: path) }
    }

    /// Returns whether the file at a path is a ``HeldFile`` that is still locked. Also returns true if this cannot be
    /// found out.
    public static func isHeld(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return errno != ENOENT && errno != ENOTDIR && errno != ELOOP }
        defer { unlock(file) }
        return flock(file, LOCK_SH | LOCK_NB) != 0
    }

    /// Makes a file with these bytes, unless there is one. No reader ever sees a part of it. Only its owner may read it.
    package static func createWhole(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let temporary = path + ".\(randomName()).tmp"
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try create(temporary, with: bytes) }
        }.get()
        defer { unlink(temporary) }
        if link(temporary, path) == 0 || errno == EEXIST { return }
        // Some file systems have no hard links.
        guard rename(temporary, path) == 0 else { throw Failure("create a file") }
    }

    /// Returns 16 random hexadecimal digits for a file name. They do not come from the world and differ in every
    /// simulated run.
    public static func randomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
