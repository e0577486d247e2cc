extension Context {
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
}
