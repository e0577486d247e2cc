import LarderSystem

@testable import LarderEditions

/// The files of an installation in memory, as one process sees them. A kill can come between any two changes.
///
/// `@unchecked Sendable`: a test uses it on one thread; ``meanwhile`` is set before the test begins.
final class MemoryFiles: EditionFiles, @unchecked Sendable {
    struct Killed: Error {}
    struct Failure: Error {}

    /// Something that is wrong with the disk.
    enum Fault: CaseIterable {
        /// Nothing can be written; files without content can be made.
        case full
        /// Nothing can be changed.
        case readOnly
    }

    /// A mark of a start; its process lives as long as the object.
    private final class Mark: StartMark {
        let name: String
        let digest: String
        let files: MemoryFiles

        init(_ name: String, of digest: String, in files: MemoryFiles) {
            (self.name, self.digest, self.files) = (name, digest, files)
        }

        func end() {
            if files.isKilled { files.left.withLock { _ = $0.insert(digest) } }
            files.remove(name)
        }
    }

    /// `@unchecked Sendable`: a weak reference is safe to read on any thread.
    private struct WeakMark: @unchecked Sendable {
        weak var mark: Mark?
        var digest: String
        var number: Int
    }

    /// The disk, which processes share.
    private struct Disk {
        var files: [String: [UInt8]] = [:]
        var marks: [String: WeakMark] = [:]
        var nextMark = 0
        var fault: Fault?
        /// The file that cannot be read now.
        var unreadable: String?
        /// Whether a process that was stopped holds the lock.
        var isLockedByStopped = false
        /// Whether a process is within `locked`.
        var isLocked = false
        /// The contents before each change since they are kept; nil if they are not.
        var history: [[String: [UInt8]]]?
    }

    private let disk: Locked<Disk>
    /// The number of changes until the process is killed; nil if it is not killed.
    private let changesLeft = Locked<Int?>(nil)
    /// The editions whose marks this process could not remove, because it was killed.
    let left = Locked<Set<String>>([])
    /// Called before each use of a file outside `locked`. There, another process may do something.
    var meanwhile: (() -> Void)?

    init(_ files: [String: [UInt8]] = [:]) { disk = Locked(Disk(files: files)) }

    /// The same files for another process.
    init(sharing other: MemoryFiles) { disk = other.disk }

    /// All files, as a backup has them.
    var contents: [String: [UInt8]] {
        get { disk.withLock { $0.files } }
        set { disk.withLock { $0.files = newValue } }
    }

    /// The editions with a mark of this process.
    var begun: Set<String> {
        disk.withLock { disk in Set(disk.marks.values.compactMap { $0.mark?.files === self ? $0.digest : nil }) }
    }

    var fault: Fault? {
        get { disk.withLock { $0.fault } }
        set { disk.withLock { $0.fault = newValue } }
    }

    var isLockedByStopped: Bool {
        get { disk.withLock { $0.isLockedByStopped } }
        set { disk.withLock { $0.isLockedByStopped = newValue } }
    }

    var unreadable: String? {
        get { disk.withLock { $0.unreadable } }
        set { disk.withLock { $0.unreadable = newValue } }
    }

    /// The contents before each change since it was last set, and the present ones.
    var history: [[String: [UInt8]]] {
        get { disk.withLock { ($0.history ?? []) + [$0.files] } }
        set { disk.withLock { $0.history = newValue } }
    }

    /// Kills the process after some changes. Nil: the next process begins.
    func kill(after changes: Int?) { changesLeft.withLock { $0 = changes } }

    var isKilled: Bool { changesLeft.withLock { $0 == 0 } }

    func read(_ name: String) throws -> [UInt8]? {
        letOthersIn()
        return try disk.withLock { disk in
            if disk.unreadable == name { throw Failure() }
            return disk.files[name]
        }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try change { disk in
            if disk.fault != nil { throw Failure() }
            disk.files[name] = bytes
        }
    }

    func remove(_ name: String) {
        try? change { disk in
            if disk.fault == .readOnly { throw Failure() }
            (disk.files[name], disk.marks[name]) = (nil, nil)
        }
    }

    var names: [String] {
        letOthersIn()
        return disk.withLock { $0.files.keys.sorted() }
    }

    func locked<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        letOthersIn()
        if disk.withLock({ $0.isLockedByStopped }) { throw Failure() }
        disk.withLock { $0.isLocked = true }
        defer { disk.withLock { $0.isLocked = false } }
        return try body()
    }

    func beginStart(of digest: String, number: Int) throws -> any StartMark {
        letOthersIn()
        let name = disk.withLock { disk in
            disk.nextMark += 1
            return "start-\(disk.nextMark)"
        }
        let mark = Mark(name, of: digest, in: self)
        try change { disk in
            if disk.fault == .readOnly { throw Failure() }
            disk.marks[mark.name] = WeakMark(mark: mark, digest: digest, number: number)
        }
        return mark
    }

    func endedStarts() -> [EndedStart] {
        disk.withLock { disk in
            disk.marks.filter { $0.value.mark == nil }.map {
                EndedStart(name: $0.key, digest: $0.value.digest, number: $0.value.number)
            }.sorted { $0.name < $1.name }
        }
    }

    /// Lets another process go on, unless that one would wait.
    private func letOthersIn() {
        if let meanwhile, !isKilled, !disk.withLock({ $0.isLocked }) { meanwhile() }
    }

    private func change(_ body: (inout Disk) throws -> Void) throws {
        try changesLeft.withLock { left in
            guard let count = left else { return }
            if count == 0 { throw Killed() }
            left = count - 1
        }
        try disk.withLock { disk in
            let former = disk.files
            try body(&disk)
            if disk.files != former { disk.history?.append(former) }
        }
    }
}
