import LarderSystem

/// The attachments of a pantry that are in use, also those of former graphs, and those that are being closed.
final class OpenAttachments: Sendable {
    /// An attachment, until it begins to be closed.
    private struct Open {
        let attachment: any Attachment
        let section: String
        let resource: String?
        let places: HeldPlaces
        /// The clearings that it did not finish in time, by their ids.
        var late: [String: AwaitableWork<Void>] = [:]
    }

    private struct Closing {
        let section: String
        let resource: String?
        /// Whether it still holds places, so that a clearing must wait for its end.
        let holdsPlaces: Bool
        let end: AwaitableWork<Void>
    }

    private struct State {
        var next = 0
        var open: [Int: Open] = [:]
        var closing: [Int: Closing] = [:]
    }

    /// The longest time that a clearing waits for attachments.
    static let limit = Duration.seconds(10)

    private let world: any World
    private let state = Locked(State())

    init(in world: any World) {
        self.world = world
    }

    /// Adds a new attachment.
    ///
    /// - Returns: its number, with which ``close(_:)`` closes it.
    func add(_ attachment: any Attachment, of section: String, resource: String?, places: HeldPlaces) -> Int {
        state.withLock { state in
            state.next += 1
            state.open[state.next] = Open(attachment: attachment, section: section, resource: resource, places: places)
            return state.next
        }
    }

    /// The attachments that are not being closed, in the order in which they were made.
    private var all: [(number: Int, open: Open)] {
        state.withLock { state in state.open.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }

    // MARK: Clearing

    /// Calls ``Attachment/cleared(_:discardingUnsent:)`` of the attachments of a resource, or of all if `resource` is nil. An attachment that
    /// has not finished an earlier call for this clearing is waited for and not called again.
    ///
    /// - Parameters:
    ///   - concerned: the places to which the clearing is limited; nil for all attachments.
    ///   - record: called with the places of the attachments that were not done in time, when all of them are done.
    /// - Returns: the places of the attachments that are done, and an error with the name of one that is not.
    func cleared(
        _ clearing: Clearing, of resource: String?, in concerned: Set<PlaceName>? = nil,
        whenLate record: @escaping @Sendable (Set<PlaceName>) async -> Void
    ) async -> (places: Set<PlaceName>, failure: (any Error)?) {
        let told = all.filter { _, open in
            (resource == nil || open.resource == resource)
                && concerned.map { !open.places.held.isDisjoint(with: $0) } != false
        }
        let works = told.map { ($0.number, $0.open, tell($0.open, of: clearing)) }
        let end = world.uptime + Self.limit
        var (done, failed): (Set<PlaceName>, Set<PlaceName>) = ([], [])
        var late: [Int: AwaitableWork<Void>] = [:]
        var failure: (any Error)?
        for (number, open, work) in works {
            if await hasEnded(work, by: end) {
                done.formUnion(open.places.held)
            } else {
                failed.formUnion(open.places.held)
                late[number] = work
                failure = failure ?? Self.late(open.section, of: open.resource, "clearing")
            }
        }
        if !late.isEmpty { remember(late, of: clearing) { [failed] in await record(failed) } }
        // A place can be deleted when the attachment that held it is closed.
        for closing in concerned == nil ? closing(of: resource) : [] where closing.holdsPlaces {
            if await hasEnded(closing.end, by: end) { continue }
            failure = failure ?? Self.late(closing.section, of: closing.resource, "closing")
        }
        return (done.subtracting(failed), failure)
    }

    private func hasEnded(_ work: AwaitableWork<Void>, by end: Duration) async -> Bool {
        if work.outcome == nil {
            await work.waitUncancelled(within: max(.zero, end - world.uptime))
        }
        return work.outcome != nil
    }

    private static func late(_ section: String, of resource: String?, _ work: String) -> StoreError {
        let owner = resource.map { " of \($0)" } ?? ""
        return StoreError("section '\(section)'\(owner) did not finish \(work) in time")
    }

    private func closing(of resource: String?) -> [Closing] {
        state.withLock { state in
            state.closing.sorted { $0.key < $1.key }.map(\.value)
                .filter { resource == nil || $0.resource == resource }
        }
    }

    /// Starts ``Attachment/cleared(_:discardingUnsent:)`` of an attachment, unless that is under way. It goes on if its caller stops waiting.
    private func tell(_ open: Open, of clearing: Clearing) -> AwaitableWork<Void> {
        if let late = open.late[clearing.id] { return late }
        let wait = AwaitableWork<Void>(in: world)
        world.spawn { [attachment = open.attachment] in
            await attachment.cleared(clearing.selection, discardingUnsent: clearing.discardsUnsent)
            wait.end(.success(()))
        }
        return wait
    }

    /// Remembers attachments that are late with a clearing until all of them have finished it and this is recorded.
    private func remember(
        _ late: [Int: AwaitableWork<Void>], of clearing: Clearing, then record: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            for (number, work) in late { state.open[number]?.late[clearing.id] = work }
        }
        world.spawn { [self] in
            for (_, work) in late.sorted(by: { $0.key < $1.key }) { _ = try? await work.value() }
            await record()
            state.withLock { state in
                for number in late.keys { state.open[number]?.late[clearing.id] = nil }
            }
        }
    }

    // MARK: Closing

    /// Begins to close an attachment. Later calls do nothing.
    func close(_ number: Int) {
        let end = AwaitableWork<Void>(in: world)
        let closed = state.withLock { state -> Locked<(any Attachment)?>? in
            guard let open = state.open.removeValue(forKey: number) else { return nil }
            state.closing[number] = Closing(
                section: open.section, resource: open.resource, holdsPlaces: !open.places.held.isEmpty, end: end)
            return Locked(open.attachment)
        }
        guard let closed else { return }
        // The task must not hold the attachment after its end, or its places would be held too.
        world.spawn { [self] in
            await Self.close(closed)
            state.withLock { $0.closing[number] = nil }
            end.end(.success(()))
        }
    }

    private static func close(_ open: Locked<(any Attachment)?>) async { await open.withLock { $0.take() }?.close() }

    /// Closes all attachments, those of resources before those of the pantry.
    ///
    /// - Parameters:
    ///   - end: the time until which their ends are waited for. Those that take longer go on.
    ///   - share: the part of that time that is kept for the attachments of the pantry.
    func closeAll(by end: Duration, sparing share: Duration) async {
        let all = all
        for (number, open) in all where open.resource != nil { close(number) }
        let shared = all.filter { $0.open.resource == nil }.map(\.number)
        await finishClosing(by: shared.isEmpty ? end : end - share)
        for number in shared { close(number) }
        await finishClosing(by: end)
    }

    /// Waits for the attachments that are being closed.
    private func finishClosing(by end: Duration) async {
        for closing in closing(of: nil) { _ = await hasEnded(closing.end, by: end) }
    }
}
