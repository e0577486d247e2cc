import Larder
import LarderSystem

/// Follows the records of a resource: over reloads of its policy, and when another process changes them.
struct RecordsFollower: Sendable {
    /// Returns the changes of a part that are followed.
    private let changes: @Sendable (RecordsAttachment) -> AsyncStream<RecordDatabase.Change>
    /// Returns the part that keeps the records now; nil after the pantry has ended.
    private let present: @Sendable () -> RecordsAttachment?

    init<Value>(
        of records: Records<Value>,
        hearing changes: @escaping @Sendable (RecordsAttachment) -> AsyncStream<RecordDatabase.Change>
    ) {
        self.changes = changes
        // The pantry must be able to end, so it is not kept.
        present = { [weak pantry = records.pantry, name = records.name] in pantry?.resource(name).recordsAttachment }
    }

    /// Calls a function now and after each change, also of those parts that follow the first one after reloads.
    ///
    /// - Parameter body: returns whether it wants to go on.
    func follow(_ first: RecordsAttachment, _ body: (RecordsAttachment) async -> Bool) async {
        var attachment = first
        while true {
            let watch = attachment.database.watch()
            defer { watch?.stop() }
            for await _ in changes(attachment) {
                guard await body(attachment) else { return }
            }
            // Its changes end when it is closed.
            guard !Task.isCancelled, let next = present(), next !== attachment else { return }
            attachment = next
        }
    }
}
