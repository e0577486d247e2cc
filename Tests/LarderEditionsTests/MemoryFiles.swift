import LarderSystem

@testable import LarderEditions

/// The files of an installation in memory. A kill can come between any two changes.
final class MemoryFiles: EditionFiles {
    struct Killed: Error {}

    /// A mark of a start; its process lives as long as the object.
    private final class Mark: StartMark {
        let name: String
        let files: MemoryFiles

        init(_ name: String, in files: MemoryFiles) { (self.name, self.files) = (name, files) }

        func end() { files.remove(name) }
    }

    private struct WeakMark: @unchecked Sendable {
        weak var mark: Mark?
        var digest: String
    }

    private struct State {
        var files: [String: [UInt8]] = [:]
        var marks: [String: WeakMark] = [:]
        var nextMark = 0
        /// The number of changes until the process is killed; nil if it is not killed.
        var changesLeft: Int?
    }

    private let state = Locked(State())

    init(_ files: [String: [UInt8]] = [:]) { state.withLock { $0.files = files } }

    /// All files, as a backup has them.
    var contents: [String: [UInt8]] {
        get { state.withLock { $0.files } }
        set { state.withLock { $0.files = newValue } }
    }

    /// Kills the process after some changes. Nil: the next process begins.
    func kill(after changes: Int?) { state.withLock { $0.changesLeft = changes } }

    var isKilled: Bool { state.withLock { $0.changesLeft == 0 } }

    func read(_ name: String) -> [UInt8]? { state.withLock { $0.files[name] } }

    func write(_ name: String, _ bytes: [UInt8]) throws { try change { $0.files[name] = bytes } }

    func remove(_ name: String) { try? change { ($0.files[name], $0.marks[name]) = (nil, nil) } }

    var names: [String] { state.withLock { $0.files.keys.sorted() } }

    func locked<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    func beginStart(of digest: String) throws -> any StartMark {
        let number = state.withLock { state in
            state.nextMark += 1
            return state.nextMark
        }
        let mark = Mark("start-\(number)", in: self)
        try change { $0.marks[mark.name] = WeakMark(mark: mark, digest: digest) }
        return mark
    }

    func endedStarts() -> [(name: String, digest: String)] {
        state.withLock { state in
            state.marks.filter { $0.value.mark == nil }.map { ($0.key, $0.value.digest) }.sorted { $0.0 < $1.0 }
        }
    }

    private func change(_ body: (inout State) -> Void) throws {
        try state.withLock { state in
            if let left = state.changesLeft {
                if left == 0 { throw Killed() }
                state.changesLeft = left - 1
            }
            body(&state)
        }
    }
}
