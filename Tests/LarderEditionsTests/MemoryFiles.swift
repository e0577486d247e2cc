import LarderSystem

@testable import LarderEditions

/// The files of an installation in memory. A kill can come between any two changes.
final class MemoryFiles: EditionFiles {
    struct Killed: Error {}

    /// A mark of a start; its process lives as long as the object.
    private final class Mark: StartMark {
        let digest: String
        let files: MemoryFiles

        init(of digest: String, in files: MemoryFiles) { (self.digest, self.files) = (digest, files) }

        func end() { files.state.withLock { $0.marks[ObjectIdentifier(self)] = nil } }
    }

    private struct WeakMark: @unchecked Sendable {
        weak var mark: Mark?
        var digest: String
    }

    private struct State {
        var files: [String: [UInt8]] = [:]
        var marks: [ObjectIdentifier: WeakMark] = [:]
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

    func remove(_ name: String) { try? change { $0.files[name] = nil } }

    var names: [String] { state.withLock { $0.files.keys.sorted() } }

    func locked<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    func beginStart(of digest: String) throws -> any StartMark {
        let mark = Mark(of: digest, in: self)
        try change { $0.marks[ObjectIdentifier(mark)] = WeakMark(mark: mark, digest: digest) }
        return mark
    }

    func endedStarts() -> [String] {
        state.withLock { state in
            let ended = state.marks.filter { $0.value.mark == nil }
            for id in ended.keys { state.marks[id] = nil }
            return ended.values.map(\.digest).sorted()
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
