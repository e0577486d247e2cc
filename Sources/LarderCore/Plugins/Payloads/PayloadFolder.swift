import LarderSystem

/// The folder in which sinks collect their payloads, below the cache folder, and the payloads that are not complete.
struct PayloadFolder: Sendable {
    /// No resource's folder can have this name.
    private static let name = ".incoming"
    private let path: String
    let unfinished: UnfinishedPayloads

    init(in places: Places) {
        path = places.cacheDirectory + "/" + Self.name
        unfinished = UnfinishedPayloads(in: places)
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
