import Larder
import LarderSystem

extension Records {
    /// Returns a stream of the records that a query selects: what is there now, and then again after each change, also of
    /// another process.
    ///
    /// ```swift
    /// for await page in collections.observe(mine) { list.show(page.records) }
    /// ```
    ///
    /// Changes that follow each other quickly are shown together, and a slow reader gets the latest page only. The stream
    /// stays in the account that was signed in when it was made. It ends with the pantry, or after a page whose
    /// ``RecordPage/error`` says that the query cannot be asked or that there are no records. After another error, it goes
    /// on with the next change.
    public func observe(_ query: Query = Query()) -> AsyncStream<RecordPage<Value>> {
        let (pages, continuation) = AsyncStream<RecordPage<Value>>.makeStream(bufferingPolicy: .bufferingNewest(1))
        do {
            let attachment = try attachment()
            let observed = Observed(
                coding: coding, selection: try query.selection(in: coding.format), table: try table())
            let follower = RecordsFollower(of: self, hearing: { $0.changes(of: observed.table) })
            let task = attachment.world.spawn {
                var shown = Observed<Value>.Shown()
                await follower.follow(attachment) { await observed.show($0, &shown, continuation) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        } catch {
            continuation.yield(coding.page([], isComplete: false, error: error))
            continuation.finish()
        }
        return pages
    }
}

/// The records that a stream shows.
private struct Observed<Value: Sendable>: Sendable {
    let coding: RecordCoding<Value>
    let selection: RecordSelection
    let table: RecordTable

    /// The page that was shown last.
    struct Shown {
        var stored: [StoredRecord] = []
        var isComplete = false
        /// Whether it was shown without an error.
        var isCurrent = false
        /// Whether it is not the first one, so that a change is the reason for the next.
        var isFollowed = false
    }

    /// - Returns: whether the stream goes on.
    func show(
        _ attachment: RecordsAttachment, _ shown: inout Shown, _ pages: AsyncStream<RecordPage<Value>>.Continuation
    ) async -> Bool {
        let heard = attachment.world.uptime
        do {
            let (stored, isComplete) = try await attachment.page(selection, of: table)
            // A change of other records changes nothing here.
            if shown.isCurrent, shown.stored == stored, shown.isComplete == isComplete { return true }
            if shown.isFollowed { attachment.recordShowing(since: heard) }
            shown = Shown(stored: stored, isComplete: isComplete, isCurrent: true, isFollowed: true)
            let page = coding.page(stored, isComplete: isComplete)
            attachment.countUndecodable(page.undecodable)
            pages.yield(page)
            return true
        } catch {
            if Task.isCancelled { return false }
            shown.isCurrent = false
            pages.yield(coding.page(shown.stored, isComplete: shown.isComplete, error: error))
            return !(error is QueryError)
        }
    }
}
