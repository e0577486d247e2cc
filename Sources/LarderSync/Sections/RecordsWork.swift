import Larder
import LarderSystem

/// The work of the section `records` that nobody waits for: pulls on a schedule, and after the network came back.
///
/// One run at a time brings records together with the service, also among processes. Whoever asks for a run while one is
/// under way waits for it.
final class RecordsWork: AgendaWork {
    private struct State {
        weak var attachment: RecordsAttachment?
        /// The tables whose next run somebody waits for.
        var asked: Set<RecordTable> = []
        /// The last results of the tables.
        var results: [RecordTable: Result<Void, any Error>] = [:]
        /// The times, in milliseconds since 1970, at which tables were pulled last, and the failed tries since.
        var pulls: [RecordTable: Pulls] = [:]
        /// The wait that spreads the calls of many installations that come back online at once.
        var spread: Duration?
        var wasOffline = false
    }

    /// The pulls of a table, as far as this process knows.
    private struct Pulls {
        var failures = 0
        /// The uptime of the next pull.
        var next: Duration
    }

    /// The time over which installations that come back online are spread.
    static let spread = Duration.seconds(5)
    /// The waits after failures: doubling from the first to the longest.
    private static let (firstWait, longestWait) = (Duration.seconds(60), Duration.seconds(900))

    private let plan: PullPlan
    private let context: SectionContext
    private let item: AgendaItem
    private let state = Locked(State())

    /// The network, the rules of the policy and the account.
    let conditions = AgendaConditions(network: .online, permitted: [.refresh], needsAccount: true)

    init(_ plan: PullPlan, in context: SectionContext) {
        (self.plan, self.context) = (plan, context)
        item = AgendaItem(in: context)
    }

    /// Puts the work on the agenda.
    ///
    /// - Parameter attachment: the part that keeps the records. It is not kept alive.
    func begin(for attachment: RecordsAttachment) {
        state.withLock { $0.attachment = attachment }
        item.begin(self)
    }

    private var world: any World { context.world }

    /// The records that the schedule is about: those of the account that is signed in.
    private var presentTable: RecordTable? {
        context.ownResource.map { RecordTable(resource: context.resource, scope: $0.request().key.scope) }
    }

    // MARK: The agenda

    func next(isMet: Bool) -> AgendaStep {
        guard let table = presentTable else { return .waitForDevice }
        let now = world.uptime
        let chance = world.chance
        return state.withLock { state in
            if !isMet {
                state.wasOffline = true
                return .waitForDevice
            }
            if state.wasOffline {
                // Many installations may have come back at this moment.
                (state.wasOffline, state.spread) = (false, now + Self.spread.scaled(by: chance()))
            }
            let due = max(state.pulls[table]?.next ?? now, state.spread ?? now)
            return due > now ? .wait(due - now) : .run
        }
    }

    func run() async {
        let asked = state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
        let present = presentTable.map { [$0] } ?? []
        let tables = present + asked.subtracting(present).sorted { ($0.scope ?? "") < ($1.scope ?? "") }
        for table in tables {
            let result = await run(table)
            state.withLock { state in
                var pulls = state.pulls[table] ?? Pulls(next: .zero)
                switch result {
                case .success: pulls = Pulls(next: world.uptime + plan.every)
                case .failure:
                    pulls.failures = min(pulls.failures + 1, 10)
                    let wait = Self.firstWait * (1 << (pulls.failures - 1))
                    pulls.next = world.uptime + min(wait, Self.longestWait, max(plan.every, Self.firstWait))
                }
                (state.pulls[table], state.results[table]) = (pulls, result)
            }
        }
    }

    private func run(_ table: RecordTable) async -> Result<Void, any Error> {
        guard let attachment = state.withLock({ $0.attachment }) else { return .failure(CancellationError()) }
        do {
            let lock = try await lock(attachment)
            defer { withExtendedLifetime(lock) {} }
            try await RecordsPull(attachment: attachment, table: table, plan: plan).run()
            context.count(.recordPulls)
            return .success(())
        } catch {
            if !(error is CancellationError) {
                context.count(.failedRecordPulls)
                context.tell(.recordsNotPulled, "the records could not be fetched: \(error)")
            }
            return .failure(error)
        }
    }

    /// Waits until no other process brings records together with services.
    private func lock(_ attachment: RecordsAttachment) async throws -> Disk.HeldFile {
        while true {
            if let lock = try await attachment.writing({ try Disk.HeldFile(locking: $0.file.path + "-run") }) {
                return lock
            }
            try await world.sleep(for: .milliseconds(250))
        }
    }

    // MARK: Use

    /// Brings the records of an account together with the service now, and waits for that.
    ///
    /// - Throws: ``RecordError``; `LoadError`; `CancellationError`.
    func sync(_ table: RecordTable) async throws {
        state.withLock { state in
            state.asked.insert(table)
            state.results[table] = nil
        }
        guard await item.runNow() else {
            try Task.checkCancellation()
            throw RecordError(.unavailable, Self.reason(item.unmet))
        }
        try state.withLock { $0.results[table] }?.get()
    }

    private static func reason(_ unmet: AgendaConditions.Unmet?) -> String {
        switch unmet {
        case .network: "there is no network that the policy permits"
        case .account: "nobody is signed in"
        case nil: "the records cannot be brought together with the service now"
        }
    }

    /// Cancels a run that asks for the records of an account that was signed out.
    func interrupt() { item.interrupt() }

    /// Ends the work, and waits for the run that is under way.
    func end() async { await item.end() }
}

extension Counter {
    /// The pulls that have brought all that was new.
    static let recordPulls = Counter("record_pulls", "Pulls of records that have brought all that was new")
    /// The pulls that failed.
    static let failedRecordPulls = Counter(
        "failed_record_pulls", "Pulls of records that failed before they had brought all")
}

extension Decision.Kind {
    /// Records could not be fetched.
    static let recordsNotPulled = Decision.Kind(rawValue: "records-not-pulled")
}
