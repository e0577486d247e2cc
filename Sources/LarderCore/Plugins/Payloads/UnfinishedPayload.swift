import LarderSystem

/// The beginning of a large payload whose call ended before it was complete.
///
/// ``OriginContext/unfinishedPayload(for:within:where:)`` returns it. Nobody else uses it until it is resumed, discarded or released; a
/// release leaves it as it is.
public final class UnfinishedPayload: Sendable {
    /// The facts that the origin gave when it made the sink.
    public let metadata: Metadata
    /// The number of bytes that have arrived.
    public let size: Int
    private let file: Locked<PartialFile?>
    private let onSuspend: @Sendable () -> Void

    init(_ file: PartialFile, _ metadata: Metadata, onSuspend: @escaping @Sendable () -> Void) {
        (self.metadata, size, self.onSuspend) = (metadata, file.size, onSuspend)
        self.file = Locked(file)
    }

    deinit {
        if var file = take() { file.suspend() }
    }

    /// Returns the sink that contains the bytes so far and takes the others. It keeps its bytes again if it is not
    /// finished. Call this once.
    ///
    /// - Parameter capacity: the largest size of the whole payload, in bytes.
    /// - Throws: ``LoadError`` if the payload was resumed or discarded before.
    public func resume(capacity: Int = 4_000_000_000) throws(LoadError) -> PayloadSink {
        guard let file = take() else { throw LoadError(.failed, "the unfinished payload is in use") }
        return PayloadSink(file, capacity: capacity, onSuspend: onSuspend)
    }

    /// Deletes the bytes, because they are of no use any more. Blocks.
    public func discard() { take()?.discard() }

    private func take() -> PartialFile? {
        file.withLock { file in
            defer { file = nil }
            return file
        }
    }
}
