/// Tells the processes that use a database of each other's changes. Blocks.
///
/// Each process has a file in a folder beside the database, which is locked as long as the process lives. After a change, a
/// process touches its file if there are others, and they watch the folder. A process that is alone does nothing.
public final class SQLiteProcesses: Sendable {
    private struct State {
        var own: Disk.HeldFile?
        /// The time at which the folder was listed last.
        var listed: Duration?
        /// The folder, which changes when a process joins, and the time at which it was first seen like this.
        var seen: (folder: FileStamp?, since: Duration)?
        var hasOthers = false
        var hasLeft = false
    }

    /// The folder of the files.
    public let folder: String
    /// A file that is locked while a file of the folder is made or deleted.
    private let lock: String
    private let world: any World
    private let state = BlockingLock(State())

    /// The time for which a list of the folder is believed. The files of processes that were killed stay until the next one.
    private static let pause = Duration.seconds(1)
    /// The time within which two changes of a folder may look like one, because file systems round times.
    private static let resolution = Duration.milliseconds(100)

    /// The processes that use a database.
    ///
    /// - Parameters:
    ///   - database: the path of the database. The files are made beside it.
    ///   - world: the clock by which the others are looked for again.
    public init(beside database: String, in world: any World) {
        folder = database + "-users"
        lock = database + "-users-lock"
        self.world = world
    }

    /// Makes the file of this process, which tells the others that it is there.
    public func join() {
        state.withLock { state in
            // A listener may still hear of a change after the database was closed.
            if state.hasLeft || state.own?.isInPlace == true { return }
            try? Disk.setAsideForeign(lock)
            state.own = try? Disk.locked(lock) {
                try Disk.makeOwnedFolder(folder)
                return try Disk.HeldFile(in: folder, prefix: "")
            }
            state.listed = nil
        }
    }

    /// Tells the others that something has changed. Does nothing after ``leave()``.
    ///
    /// A process that has joined before hears of it, even if it has just begun.
    ///
    /// - Parameter isUrgent: whether others are looked for in any case, also where the file system shows too late that one
    ///   has joined.
    public func tell(atOnce isUrgent: Bool) {
        guard world.hasOtherProcesses else { return }
        join()
        state.withLock { state in
            if state.hasLeft { return }
            let folder = Disk.stamp(of: folder)
            let now = world.uptime
            if state.seen?.folder != folder { state.seen = (folder, now) }
            let isKnown =
                state.listed.map { listed in
                    now - listed < Self.pause && listed - (state.seen?.since ?? listed) >= Self.resolution
                } ?? false
            if isUrgent || !isKnown { look(&state) }
            if state.hasOthers { state.own?.touch() }
        }
    }

    /// Finds out whether there are others. Does nothing after ``leave()``.
    public func look() {
        state.withLock { state in if !state.hasLeft { look(&state) } }
    }

    private func look(_ state: inout State) {
        state.listed = world.uptime
        state.hasOthers = (try? Disk.locked(lock) { [own = state.own?.name] in hasOthers(than: own) }) ?? true
    }

    /// Ends the membership of this process for good.
    public func leave() {
        state.withLock { state in
            state.hasLeft = true
            if let own = state.own { try? Disk.remove(folder + "/" + own.name) }
            state.own = nil
        }
    }

    /// Returns whether another process has a file. Deletes the files of processes that have ended.
    private func hasOthers(than own: String?) -> Bool {
        var found = false
        for item in (try? Disk.list(folder)) ?? [] where item.name != own {
            if Disk.isHeld(folder + "/" + item.name) {
                found = true
            } else {
                try? Disk.remove(folder + "/" + item.name)
            }
        }
        return found
    }
}
