import Larder

/// The durable files of an installation: its state, the channel, and the editions that it keeps. Processes share them.
///
/// Its functions block.
protocol EditionFiles: Sendable {
    /// Returns the bytes of a file; nil if there is none or it cannot be read.
    func read(_ name: String) -> [UInt8]?
    /// Replaces a file in one step. When it returns, the file survives a power failure.
    func write(_ name: String, _ bytes: [UInt8]) throws
    /// Removes a file, if there is one.
    func remove(_ name: String)
    /// The names of all files.
    var names: [String] { get }
    /// Runs `body` while no other process does so.
    func locked<Result>(_ body: () throws -> Result) throws -> Result
    /// Makes the mark of a start, which lives as long as its object and this process: see ``endedStarts()``.
    func beginStart(of digest: String) throws -> any StartMark
    /// Removes the marks of starts whose processes have ended without ``StartMark/end()``, and returns their digests.
    func endedStarts() -> [String]
}

/// The mark of a process that composes an edition and has not answered a load since.
protocol StartMark: AnyObject, Sendable {
    /// Removes the mark: the start went well.
    func end()
}
