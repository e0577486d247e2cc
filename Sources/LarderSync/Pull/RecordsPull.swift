import Larder
import LarderSystem

/// A pull of the records of one account: pages are asked for and merged one after the other, until the last one.
///
/// Each page is one transaction with its position, so a pull that was interrupted goes on where it was.
struct RecordsPull: Sendable {
    let attachment: RecordsAttachment
    let table: RecordTable
    let plan: PullPlan

    /// Pulls until everything is merged.
    ///
    /// - Throws: ``RecordError`` with the code ``RecordError/Code/badAnswer``; `LoadError`; `CancellationError`; errors of the
    ///   disk and the database. What was merged stays.
    func run() async throws {
        var state = try await begin(isFull: false)
        // Everything is fetched once more at most.
        var isSecond = false
        while state.run != nil {
            do { state = try await nextPage(state) } catch {
                let end = end(error, state)
                try await change { decisions in
                    switch end {
                    case .goesOn: break
                    case .failed: try decisions.pageFailed()
                    case .cursor: try decisions.abandonPull()
                    case .position: try decisions.positionExpired()
                    }
                }
                guard end == .cursor && !(error is PullRefusal) || end == .position, !isSecond else {
                    throw Self.described(error)
                }
                isSecond = true
                state = try await begin(isFull: end == .position || state.run?.isFull == true)
            }
        }
    }

    private func begin(isFull: Bool) async throws -> PullState {
        let (edition, pause) = (attachment.edition, plan.full?.milliseconds)
        return try await change { decisions in
            let isDue = try pause.map { try decisions.timeSinceFullPull() >= $0 } ?? false
            return try decisions.beginPull(isFull: isFull || isDue, edition: edition)
        }
    }

    private func nextPage(_ state: PullState) async throws -> PullState {
        try Task.checkCancellation()
        let rules = attachment.planner.rules
        let page = try SortedPage(
            await plan.puller.page(question(state, rules)), by: rules, setsAside: attachment.setsMalformedAside)
        return try await change { decisions in
            // Another account of another policy may have taken its place.
            guard try decisions.isCurrent(state) else { throw CancellationError() }
            let state = try decisions.merge(page.page)
            try decisions.setAside(page.bad)
            if state.run == nil, let keep = attachment.keep { try decisions.trim(by: keep) }
            return state
        }
    }

    private func question(_ state: PullState, _ rules: SyncRules) -> PullQuestion {
        attachment.question(
            for: table, position: state.run?.isFull == true ? nil : state.position, cursor: state.run?.cursor,
            limit: plan.limit, source: state.source, rules)
    }

    private func change<Result: Sendable>(
        _ body: @escaping @Sendable (RecordDecisions) throws -> Result
    ) async throws -> Result {
        try await attachment.changing(table, .process, body)
    }

    // MARK: Errors

    /// The consequences of an error for a pull.
    private enum End {
        /// It goes on at the same page.
        case goesOn
        /// The same, a few times.
        case failed
        /// The cursor leads nowhere: it begins at the last position.
        case cursor
        /// The position leads nowhere: everything is fetched.
        case position
    }

    private func end(_ error: any Error, _ state: PullState) -> End {
        switch error {
        case PullError.positionExpired, PullRefusal.epochChanged: return .position
        case is PullRefusal: return .cursor
        case is PullError: return .failed
        case let error as LoadError:
            guard state.run?.cursor != nil, let status = error.status else { return .goesOn }
            // A cursor that a former process got may have expired.
            return Self.refusals.contains(status) ? .cursor : .failed
        default: return .goesOn
        }
    }

    /// The statuses that say that a request makes no sense.
    private static let refusals: Set<Int> = [400, 404, 410, 416, 422]

    private static func described(_ error: any Error) -> any Error {
        switch error {
        case PullError.positionExpired: RecordError(.badAnswer, "the service does not know its own position")
        case PullError.malformed(let reason): RecordError(.badAnswer, reason)
        case let refusal as PullRefusal: RecordError(.badAnswer, refusal.reason)
        default: error
        }
    }
}

extension PullRefusal {
    fileprivate var reason: String {
        switch self {
        case .cursorSeen: "the pages lead in a circle"
        case .epochChanged: "the service's history has changed in the middle of a pull"
        case .tooManyPages: "there are more than \(SyncPlanner.mostPages) pages"
        case .temporaryID: "a page names a temporary id, which no service can know"
        }
    }
}

extension RecordDecisions {
    /// Whether a pull is still at this page.
    fileprivate func isCurrent(_ state: PullState) throws -> Bool {
        let present = try transaction.facts(of: number).pull
        return present.run == state.run && present.source == state.source && present.generation == state.generation
    }

    /// Returns the milliseconds since everything was fetched.
    fileprivate func timeSinceFullPull() throws -> Int64 {
        let last = try transaction.facts(of: number).pull.fullAt ?? .min
        let (time, isOver) = transaction.moment.now.subtractingReportingOverflow(last)
        // A time in the future is that of a wrong clock.
        return isOver || time < 0 ? .max : time
    }

    /// Keeps records that make no sense for a while, so that their sender can be shown them.
    fileprivate func setAside(_ records: [JSONText]) throws {
        if records.isEmpty { return }
        try transaction.count(in: number) { $0.quarantined += records.count }
        for record in records {
            try transaction.connection.run(
                "INSERT INTO quarantine(t, at, text) VALUES(?, ?, ?)", .integer(number),
                .integer(transaction.moment.now), .bytes(Array(record.bytes.prefix(Self.longestSetAside))))
        }
        try transaction.connection.run(
            "DELETE FROM quarantine WHERE t=? AND n NOT IN (SELECT n FROM quarantine WHERE t=? ORDER BY n DESC LIMIT ?)",
            .integer(number), .integer(number), .integer(Self.mostSetAside))
    }

    /// The most bytes of a record that is kept so, and the most records.
    private static var longestSetAside: Int { 64_000 }
    private static var mostSetAside: Int64 { 1_000 }
}
