import LarderSystem

extension Pantry {
    /// Does the work that is due now, such as refreshes on a schedule, and returns within a time limit.
    ///
    /// ```swift
    /// let report = await pantry.runDue(within: .seconds(25))
    /// if let next = report.next { askSystemToWakeApp(at: next) }
    /// ```
    ///
    /// An app calls it when the system has woken it for a short time. Work that has been due the longest comes first, and two
    /// attachments work at a time. Work that is under way at the end of the time is cancelled.
    /// Work that is not due is not done. Cancelling the caller's task ends the time at once.
    ///
    /// - Parameter budget: the longest time until this returns.
    /// - Returns: the results of all attachments that have work from time to time (``DueWork``).
    public func runDue(within budget: Duration) async -> DueReport {
        let works = dueWorks
        let results = Locked<[Int: DueResult]>([:])
        let now = world.now
        let due = works.indices.compactMap { place in works[place].work.nextDue.map { (place, $0) } }
            .filter { $0.1 <= now }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
        if !due.isEmpty {
            let run = AwaitableWork(in: world) {
                await due.forEachConcurrently(atMost: 2) { place in
                    if Task.isCancelled { return }
                    let result = await works[place].work.runDue()
                    results.withLock { $0[place] = result }
                }
            }
            _ = try? await run.value(within: max(.zero, budget))
            run.cancel()
        }
        let isDue = Set(due)
        return results.withLock { results in
            DueReport(
                items: works.enumerated().map { place, item in
                    DueReport.Item(
                        resource: item.resource, section: item.section,
                        result: results[place] ?? (isDue.contains(place) ? .unfinished : .notDue),
                        next: item.work.nextDue)
                })
        }
    }

    /// The attachments with due work, those of resources first.
    private var dueWorks: [(resource: String?, section: String, work: any DueWork)] {
        (graphs.flatMap(\.attachments) + attachments.withLock { $0 }.all).compactMap { held in
            held.attachment(as: (any DueWork).self).map { (held.resource, held.section, $0) }
        }
    }
}

extension Array where Element: Sendable {
    /// Calls `body` for each element in their order, for a few at a time.
    fileprivate func forEachConcurrently(atMost limit: Int, _ body: @escaping @Sendable (Element) async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for (place, element) in enumerated() {
                if place >= limit { await group.next() }
                group.addTask { await body(element) }
            }
        }
    }
}
