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
    /// Makes the mark of a start, which lives as long as its object: see ``endedStarts()``.
    func beginStart(of digest: String) throws -> any StartMark
    /// Returns the marks of starts whose processes have ended without ``StartMark/end()``: the names of their files, and the
    /// digests of the editions.
    func endedStarts() -> [(name: String, digest: String)]
}

/// The mark of a process that composes an edition and has not answered a load since.
protocol StartMark: AnyObject, Sendable {
    /// Removes the mark: the start went well.
    func end()
}
