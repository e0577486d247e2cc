public import LarderFoundation
import LarderSystem

/// Collects a large answer in a file as it arrives, so that it needs no memory.
///
/// ```swift
/// let sink = try await world.blocking { try context.payloadSink(capacity: 2_000_000_000) }
/// for try await chunk in download { try await world.blocking { try sink.write(chunk) } }
/// return Loaded(Entry(try await world.blocking { try sink.finish() }))
/// ```
///
/// The methods block, so they belong on a thread that may block: see ``World/blocking(_:)``. A sink that is released
/// without being finished leaves nothing, not even if the process is killed. An exception is a sink that was made to be
/// continued: see `Context.payloadSink(continuing:with:capacity:)`.
public final class PayloadSink: Sendable {
    private enum State {
        case new(NewFile, size: Int)
        case partial(PartialFile)
        case closed

        var size: Int {
            switch self {
            case .new(_, let size): size
            case .partial(let file): file.size
            case .closed: 0
            }
        }

        mutating func write(_ bytes: UnsafeRawBufferPointer) throws(Disk.Failure) {
            switch self {
            case .new(let file, let size):
                try file.write(bytes)
                self = .new(file, size: size + bytes.count)
            case .partial(var file):
                try file.write(bytes)
                self = .partial(file)
            case .closed: break
            }
        }

        func finished() throws(Disk.Failure) -> SharedFile? {
            switch self {
            case .new(let file, _): try file.finished()
            case .partial(let file): try file.finished()
            case .closed: nil
            }
        }

        mutating func discard() {
            switch self {
            case .new(let file, _): file.discard()
            case .partial(let file): file.discard()
            case .closed: break
            }
            self = .closed
        }
    }

    /// The largest size of the payload, in bytes.
    let capacity: Int
    private let state: BlockingLock<State>
    private let onSuspend: @Sendable () -> Void

    /// A smaller payload is read into memory, because an open file costs more than its bytes do.
    static let smallestFile = 1 << 17

    init(_ file: NewFile, capacity: Int) {
        self.capacity = capacity
        state = BlockingLock(.new(file, size: 0))
        onSuspend = {}
    }

    /// - Parameter onSuspend: called when the file was closed and its bytes are kept.
    init(_ file: PartialFile, capacity: Int, onSuspend: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        state = BlockingLock(.partial(file))
        self.onSuspend = onSuspend
    }

    deinit {
        suspend()
    }

    /// The number of bytes that were written, with those that were kept from an earlier call; 0 after the sink was closed.
    public var size: Int { state.withLock { $0.size } }

    /// Adds bytes to the payload. Blocks.
    ///
    /// - Throws: ``LoadError`` if the payload becomes larger than its capacity, the disk is full, or the sink is
    ///   closed. An error closes the sink and deletes the bytes.
    public func write(_ bytes: some ContiguousBytes) throws(LoadError) {
        try state.withLock { (state) throws(LoadError) in
            if case .closed = state { throw Self.closed }
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(LoadError) in try write(bytes, to: &state) }
            }
            if case .failure(let error) = result {
                state.discard()
                throw error
            }
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to state: inout State) throws(LoadError) {
        guard bytes.count <= capacity - state.size else {
            throw LoadError(.failed, "the payload is larger than \(capacity) bytes")
        }
        do throws(Disk.Failure) { try state.write(bytes) } catch { throw Self.failure(error) }
    }

    /// Closes the sink and returns the payload. Blocks.
    ///
    /// - Throws: ``LoadError`` if the sink is closed already, or if the file cannot be read.
    public func finish() throws(LoadError) -> Payload {
        try state.withLock { (state) throws(LoadError) in
            let open = state
            state = .closed
            let payload: Payload?
            do throws(Disk.Failure) {
                payload = try open.finished().map(Payload.init)
            } catch {
                throw Self.failure(error)
            }
            guard let payload else { throw Self.closed }
            return open.size < Self.smallestFile ? Payload(Data(Array(payload.bytes))) : payload
        }
    }

    /// Closes the sink before the payload is complete. The bytes stay for a later call if the sink was made to be
    /// continued; else they are deleted. Does nothing if the sink is closed. Blocks.
    public func suspend() {
        let isKept = state.withLock { state in
            guard case .partial(var file) = state, file.size > 0 else {
                state.discard()
                return false
            }
            file.suspend()
            state = .closed
            return true
        }
        if isKept { onSuspend() }
    }

    /// Closes the sink and deletes the bytes. Does nothing if the sink is closed. Blocks.
    public func discard() { state.withLock { $0.discard() } }

    private static var closed: LoadError { LoadError(.failed, "the payload's file is closed") }

    static func failure(_ error: Disk.Failure) -> LoadError {
        LoadError(.failed, "the payload cannot be put into a file: \(error)", origin: error)
    }
}
