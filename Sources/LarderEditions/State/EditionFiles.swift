import Larder

/// The durable files of an installation: its state, the channel, and the editions that it keeps. Processes share them.
///
/// Its functions block.
protocol EditionFiles: Sendable {
    /// Returns the bytes of a file; nil if there is none.
    ///
    /// - Throws: the error of the disk. A file may be there that cannot be read now, such as on a locked phone.
    func read(_ name: String) throws -> [UInt8]?
    /// Replaces a file in one step. When it returns, the file survives a power failure.
    func write(_ name: String, _ bytes: [UInt8]) throws
    /// Removes a file, if there is one.
    func remove(_ name: String)
    /// The names of all files.
    var names: [String] { get }
    /// Runs `body` while no other process does so.
    ///
    /// - Throws: also if another process does so for as long as `limit`. It may have been stopped.
    func locked<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result
    /// Makes the mark of a start under an edition, which lives as long as its object: see ``endedStarts()``.
    ///
    /// - Parameter number: 1, or more if starts before it ended too early: it is the next one in a row.
    func beginStart(of digest: String, number: Int) throws -> any StartMark
    /// Returns the marks of starts whose processes have ended without ``StartMark/end()``.
    func endedStarts() -> [EndedStart]
}

/// The mark of a start that ended too early.
struct EndedStart: Hashable, Sendable {
    /// The name of its file.
    var name: String
    /// The digest of the edition.
    var digest: String
    var number: Int
}

extension [EndedStart] {
    /// The number of starts under an edition that ended too early, one after the other, since a load ended under it.
    func inARow(_ digest: String) -> Int {
        let numbers = Set(lazy.filter { $0.digest == digest }.map(\.number))
        return (1...).first { !numbers.contains($0) }.map { $0 - 1 } ?? 0
    }
}

/// The mark of a process that composes an edition and has not answered a load since.
protocol StartMark: AnyObject, Sendable {
    /// Removes the mark: the start went well.
    func end()
}
