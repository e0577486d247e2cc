import LarderSystem

/// The surroundings of an origin.
///
/// `@unchecked Sendable`: its variables are constants.
public final class OriginContext: Context, @unchecked Sendable {
    private var payloadFolder: PayloadFolder? { surroundings.payloadFolder }
    private var dataSource: DataSource? { surroundings.dataSource }

    /// Returns a sink that collects a large payload in a file below the cache folder. Blocks.
    ///
    /// The store adopts the file: it gives the file a name in its own folder, and copies nothing. Until then, the file
    /// counts in no capacity, so choose one that the disk can hold.
    ///
    /// - Parameter capacity: the largest size of the payload, in bytes.
    /// - Throws: ``LoadError`` if there is no cache folder that can be used. An origin that must go on then collects the
    ///   payload in memory.
    public func payloadSink(capacity: Int = 4_000_000_000) throws(LoadError) -> PayloadSink {
        guard let payloadFolder else { throw LoadError(.failed, "there is no folder for payloads") }
        return try payloadFolder.sink(capacity: capacity)
    }

    /// Returns a sink whose bytes stay for a later call if the payload does not become complete. This happens when the
    /// sink is suspended or released, or when the process is killed. Blocks.
    ///
    /// The bytes are found with ``unfinishedPayload(for:within:where:)``. They are deleted by every clearing that concerns the
    /// call's key, after a week, and when there are more than 16 payloads or 1 GB of a resource. If they cannot be kept,
    /// the sink is one of ``payloadSink(capacity:)``: when what the call loads was cleared since it began, for example.
    ///
    /// - Parameters:
    ///   - call: the call that the payload answers.
    ///   - metadata: the facts by which the origin recognizes the same version of the payload later, as notes or as the
    ///     entry's own facts.
    ///   - capacity: the largest size of the payload, in bytes.
    /// - Throws: ``LoadError`` if there is no cache folder that can be used.
    public func payloadSink(
        continuing call: Call, with metadata: Metadata, capacity: Int = 4_000_000_000
    ) throws(LoadError) -> PayloadSink {
        var metadata = metadata
        metadata.source = dataSource?.own
        guard let unfinished = payloadFolder?.unfinished, call.key.resource == resource, !call.isSend,
            let file = try? unfinished.makeFile(for: call, metadata)
        else { return try payloadSink(capacity: capacity) }
        return PayloadSink(file, capacity: capacity, onSuspend: suspending(file))
    }

    /// Returns the beginning of the payload that an earlier call for the same key did not complete. Returns nil if there
    /// is none, or if another call or process is writing it.
    ///
    /// A damaged end, as after a power failure, is cut off. A call without such a payload waits for nothing, except the
    /// first call of a resource in this process, which looks for the files of earlier ones.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - limit: the longest wait for the disk.
    ///   - suits: returns whether the payload is of use, from the facts with which the sink was made. It must check all
    ///     that decides about the bytes. Examples are the URL that was asked in the end and the fields by which answers
    ///     vary. Payloads of another source are left out before.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func unfinishedPayload(
        for call: Call, within limit: Duration = .seconds(5), where suits: @escaping @Sendable (Metadata) -> Bool
    ) async throws -> UnfinishedPayload? {
        guard let unfinished = payloadFolder?.unfinished, call.key.resource == resource, !call.isSend,
            unfinished.mayHave(call.key)
        else { return nil }
        let search = AwaitableWork(in: world) { [self] in try await find(in: unfinished, for: call, where: suits) }
        return try await search.value(within: limit) ?? nil
    }

    private func find(
        in unfinished: UnfinishedPayloads, for call: Call, where suits: @escaping @Sendable (Metadata) -> Bool
    ) async throws -> UnfinishedPayload? {
        // A call that was cancelled just before may still be closing its file.
        for _ in 0..<10 where unfinished.mayHave(call.key) {
            let found = try await world.blocking { [dataSource] in
                unfinished.file(for: call.key) { (dataSource?.contains($0.source) ?? true) && suits($0) }
            }
            if let (file, marked) = found.file {
                var metadata = marked
                metadata.source = nil
                return UnfinishedPayload(file, metadata, onSuspend: suspending(file))
            }
            guard found.isOpen else { return nil }
            try await world.sleep(for: .milliseconds(10))
        }
        return nil
    }

    private func suspending(_ file: PartialFile) -> @Sendable () -> Void {
        { [unfinished = payloadFolder?.unfinished, resource, name = file.name] in
            unfinished?.suspended(name, of: resource)
        }
    }
}
