#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
import LarderBase

/// Collects a large answer in a file as it arrives, so that it needs no memory.
///
/// ```swift
/// let sink = try await world.blocking { try context.payloadSink(capacity: 2_000_000_000) }
/// for try await chunk in download { try await world.blocking { try sink.write(chunk) } }
/// return Loaded(Entry(try await world.blocking { try sink.finish() }))
/// ```
///
/// The methods block, so they belong on a thread that may block: see ``World/blocking(_:)``. A sink that is released
/// without being finished leaves nothing, not even if the process is killed.
public final class PayloadSink: Sendable {
    private enum State {
        case open(NewFile, size: Int)
        case closed
    }

    /// The largest size of the payload, in bytes.
    public let capacity: Int
    private let state: BlockingLock<State>

    /// A smaller payload is read into memory, because an open file costs more than its bytes do.
    static let smallestFile = 1 << 17

    init(_ file: NewFile, capacity: Int) {
        self.capacity = capacity
        state = BlockingLock(.open(file, size: 0))
    }

    deinit {
        close()
    }

    /// The number of bytes that were written.
    public var size: Int {
        state.withLock { state in
            if case .open(_, let size) = state { return size }
            return 0
        }
    }

    /// Adds bytes to the payload. Blocks.
    ///
    /// - Throws: ``LoadError`` if the payload becomes larger than ``capacity``, if the disk is full, or if the sink is
    ///   closed. An error closes the sink and deletes the bytes.
    public func write(_ bytes: some ContiguousBytes) throws(LoadError) {
        try state.withLock { (state) throws(LoadError) in
            guard case .open(let file, let size) = state else { throw Self.closed }
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(LoadError) in try write(bytes, to: file, after: size) }
            }
            switch result {
            case .success(let size): state = .open(file, size: size)
            case .failure(let error):
                file.discard()
                state = .closed
                throw error
            }
        }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, to file: NewFile, after size: Int
    ) throws(LoadError) -> Int {
        guard bytes.count <= capacity - size else {
            throw LoadError(.failed, "the payload is larger than \(capacity) bytes")
        }
        do throws(Disk.Failure) { try file.write(bytes) } catch { throw Self.failure(error) }
        return size + bytes.count
    }

    /// Closes the sink and returns the payload. Blocks.
    ///
    /// - Throws: ``LoadError`` if the sink is closed already, or if the file cannot be read.
    public func finish() throws(LoadError) -> Payload {
        try state.withLock { (state) throws(LoadError) in
            guard case .open(let file, let size) = state else { throw Self.closed }
            state = .closed
            do throws(Disk.Failure) {
                let payload = Payload(try file.finished())
                return size < Self.smallestFile ? Payload(Data(Array(payload.bytes))) : payload
            } catch {
                throw Self.failure(error)
            }
        }
    }

    private func close() {
        state.withLock { state in
            if case .open(let file, _) = state { file.discard() }
            state = .closed
        }
    }

    private static var closed: LoadError { LoadError(.failed, "the payload's file is closed") }

    static func failure(_ error: Disk.Failure) -> LoadError {
        LoadError(.failed, "the payload cannot be put into a file: \(error)", origin: error)
    }
}

/// The folder in which sinks collect their payloads, below the cache folder.
struct PayloadFolder: Sendable {
    /// No resource's folder can have this name.
    private static let name = ".incoming"
    private let path: String

    init(in cacheDirectory: String) {
        path = cacheDirectory + "/" + Self.name
    }

    /// Returns a new sink. Makes the folder if it is missing. Blocks.
    func sink(capacity: Int) throws(LoadError) -> PayloadSink {
        do throws(Disk.Failure) {
            try Disk.makeFolder(path)
            return PayloadSink(try NewFile(in: path), capacity: capacity)
        } catch {
            throw PayloadSink.failure(error)
        }
    }

    /// Deletes the files of processes that have ended. Blocks.
    func removeRemains() { NewFile.removeRemains(in: path) }
}
