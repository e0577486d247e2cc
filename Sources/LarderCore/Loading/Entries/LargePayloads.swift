import LarderSystem

/// Work on large payloads, which takes long and may read from a disk, off Swift's own threads.
extension Payload {
    /// The size from which a payload is large, in bytes.
    static let largeSize = 1 << 20
}

extension World {
    /// Returns the result of work on a payload of this size. Work on a large one runs on a thread that may block.
    func working<Value: Sendable>(
        onSize size: Int, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        if size >= Payload.largeSize, let value = try? await blocking(work) { return value }
        return work()
    }
}

extension Validators {
    /// Admits a payload. See ``Validator/admit(_:from:for:)``.
    func admit(
        _ entry: inout Entry, from arrival: Arrival, for request: Request, in world: any World
    ) async throws(Refusal) -> Admission {
        guard entry.payload.size >= Payload.largeSize else {
            return try admit(&entry, from: arrival, for: request)
        }
        let arrived = entry
        let admitted = await world.working(onSize: entry.payload.size) { [self] in
            var entry = arrived
            return Result { () throws(Refusal) in (try admit(&entry, from: arrival, for: request), entry.metadata) }
        }
        let admission: Admission
        (admission, entry.metadata) = try admitted.get()
        return admission
    }
}
