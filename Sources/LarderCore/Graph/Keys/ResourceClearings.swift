import LarderSystem

/// The clearings of all processes as they concern one resource.
struct ResourceClearings: Sendable {
    let log: ClearingLog
    /// The folder of the resource.
    let folder: String

    /// The number of the last clearing. Reads memory only.
    var position: UInt64 { log.position }

    /// Makes the clearings by other processes wait while an entry is written.
    func claim(_ key: Key) -> ByteClaim? { log.claim(key) }

    /// Returns whether a clearing after `number` concerns an entry with these tags. Reads memory only.
    func concern(_ key: Key, tags: [String], after number: UInt64) -> Bool {
        log.concerns(key, in: folder, tags: tags, after: number)
    }

    /// Returns whether a clearing after `number` may concern an entry of a key whose tags are unknown. Reads memory only.
    func mayConcern(_ key: Key, after number: UInt64) -> Bool { log.mayConcern(key, in: folder, after: number) }
}
