import Larder
import LarderSystem

/// The work of the section `records` that nobody waits for: it fetches records on a schedule, and sends what users change.
///
/// One run at a time brings records together with the service, also among processes. Whoever asks for a run while one is
/// under way waits for it.
final class RecordsWork: AgendaWork {
    private struct State {
        weak var attachment: RecordsAttachment?
        /// The network, the app, and changes that other processes make, such as an extension of the app.
        var watches: [Subscription?] = []
    }

    let pull: PullPlan?
    let push: PushPlan?
    private let context: SectionContext
    private let item: AgendaItem
    private let state = Locked(State())
    private let timetable = Locked(SyncTimetable())

    /// The network, the rules of the policy and the account.
    let conditions = AgendaConditions(network: .online, permitted: [.refresh], needsAccount: true)

    init(pull: PullPlan?, push: PushPlan?, in context: SectionContext) {
        (self.pull, self.push, self.context) = (pull, push, context)
        item = AgendaItem(in: context)
    }

    /// Puts the work on the agenda.
    ///
    /// - Parameter attachment: the part that keeps the records. It is not kept alive.
    func begin(for attachment: RecordsAttachment) {
        state.withLock { $0.attachment = attachment }
        item.begin(self)
        if !context.allowsBackgroundWork { return }
        let network = world.onNetworkChange { [weak item] in item?.changed() }
        let others = push == nil ? nil : attachment.database.watch()
        let foreground = AppActivation.follow { [weak self] in self?.appBecameActive() }
        state.withLock { $0.watches = [network, others, foreground] }
    }

    private var world: any World { context.world }

    // MARK: The agenda

    func next(isMet: Bool) -> AgendaStep {
        guard let present = context.presentTable else { return .waitForDevice }
        lookAtSource()
        let unmet = isMet ? nil : item.unmet ?? .network
        let (now, isPulled, part) = (world.uptime, pull != nil, world.chance)
        let (step, isNew) = timetable.withLock {
            $0.step(of: present, unmet: unmet, isPulled: isPulled, at: now, part: part)
        }
        if isNew { tellTurn() }
        return step
    }

    /// After a reload with another source, everything is asked for anew, and what waited for this source is sent.
    private func lookAtSource() {
        let (marks, now) = ((try? context.ownResource?.sourceMarks) ?? [], world.uptime)
        timetable.withLock { $0.note(source: marks, sends: push != nil, at: now) }
    }

    func run() async {
        setRunning(true)
        await runAll()
        setRunning(false)
    }

    private func setRunning(_ isRunning: Bool) {
        timetable.withLock { $0.isRunning = isRunning }
        tellTurn()
    }

    private func tellTurn() { state.withLock { $0.attachment }?.tellTurn() }

    private func runAll() async {
        lookAtSource()
        let now = world.uptime
        let run = timetable.withLock { $0.takeRun(at: now) }
        let present = context.presentTable.map { [$0] } ?? []
        // A former process may have left changes of any account.
        let unsent = run.isDue && push != nil ? await unsentTables() : []
        let others = Set(run.wishes.keys).union(run.waiting).union(unsent).subtracting(present)
            .sorted { ($0.scope ?? "") < ($1.scope ?? "") }
        for table in present + others {
            let wish: SyncWish? = run.isDue ? .sync : run.wishes[table]
            // Another account is only sent to, unless somebody asks: it may have been cleared.
            let isPulled = run.wishes[table] == .sync || present.contains(table)
            let result = await self.run(table, as: wish, isPulled: isPulled)
            timetable.withLock { $0.ended(table, as: wish, result) }
        }
    }

    /// Returns the accounts of this resource with unsent changes.
    private func unsentTables() async -> [RecordTable] {
        guard let attachment = state.withLock({ $0.attachment }) else { return [] }
        let resource = context.resource
        let facts = try? await attachment.reading { try $0.reading { try TableFacts.all($0) } }
        return (facts ?? []).filter { $0.table.resource.utf8.elementsEqual(resource.utf8) && $0.books.pending > 0 }
            .map(\.table)
    }

    /// - Parameters:
    ///   - wish: the reason to run before the time; nil if there is none.
    ///   - isPulled: whether records are fetched at all.
    private func run(_ table: RecordTable, as wish: SyncWish?, isPulled: Bool) async -> Result<Void, any Error> {
        guard let attachment = state.withLock({ $0.attachment }) else { return .failure(CancellationError()) }
        var pause = SyncTimes.firstWait
        do {
            let lock = try await lock(attachment)
            defer { withExtendedLifetime(lock) {} }
            let now = world.uptime
            let pullIsDue = isPulled && (wish == .sync || timetable.withLock { $0.isPullDue(table, at: now) })
            let sending = push.map { RecordsPush(attachment: attachment, table: table, pusher: $0.pusher) }
            try await sending?.reopen(wakes: wish.map { $0 >= .wake } ?? false)
            // Without versions the service cannot refuse a change that overwrites another's, so those are fetched first.
            let isBlind = attachment.planner.rules.versionPath == nil
            var isReached = true
            if !isBlind { isReached = try await sending?.run() ?? true }
            if let pull, pullIsDue {
                // If this fails, changes that were not tried yet go without it, as soon as after a try of their own.
                pause = .milliseconds(attachment.planner.rules.backoff.wait(after: 1))
                try await fetch(table, by: pull, attachment)
                pause = SyncTimes.firstWait
            }
            if isReached { isReached = try await sending?.run() ?? true }
            try await planNextPush(of: table, attachment, isReached ? nil : pause)
            context.count(.syncRuns)
            return .success(())
        } catch {
            await postpone(table, attachment, after: error, pause: pause)
            if !(error is CancellationError) {
                context.count(.failedSyncRuns)
                let text = Self.text(error)
                context.tell(.recordsNotSynced, "the records could not be brought together with the service: \(text)")
            }
            return .failure(error)
        }
    }

    /// Returns the text of an error, without that of a foreign one, which may have secrets in it.
    private static func text(_ error: any Error) -> String {
        error is RecordError || error is LoadError ? "\(error)" : LoadError.name(of: error)
    }

    private func fetch(_ table: RecordTable, by plan: PullPlan, _ attachment: RecordsAttachment) async throws {
        timetable.withLock { $0.fetchBegan(at: world.uptime) }
        do {
            try await RecordsPull(attachment: attachment, table: table, plan: plan).run()
            timetable.withLock { $0.pulled(table, at: world.uptime, every: plan.every) }
        } catch {
            if !(error is CancellationError) {
                timetable.withLock { $0.pullFailed(table, at: world.uptime, every: plan.every) }
                let reason = Self.text(error)
                try? await attachment.changing(table, .process) { try $0.pullFailed(because: reason) }
            }
            throw error
        }
    }

    /// Plans the next run after one that failed. Whatever failed, such as the disk, nothing is tried again at once.
    private func postpone(
        _ table: RecordTable, _ attachment: RecordsAttachment, after error: any Error, pause: Duration
    ) async {
        let isPlanned = (try? await planNextPush(of: table, attachment, pause)) != nil
        let now = world.uptime
        timetable.withLock { timetable in
            if !isPlanned, let push {
                let next = PlannedSending(time: now + max(push.every, SyncTimes.firstWait), pause: .retry)
                timetable.replan(next, for: table)
            }
            if let pull, !(error is CancellationError), timetable.isPullDue(table, at: now) {
                timetable.pullFailed(table, at: now, every: pull.every)
            }
        }
    }

    /// - Parameter pause: the wait of what was not sent because the service did not answer, unless something that was sent
    ///   waits for its next try; nil if it has answered.
    private func planNextPush(
        of table: RecordTable, _ attachment: RecordsAttachment, _ pause: Duration?
    ) async throws {
        guard let push else { return }
        // A change that is made from now on plans its own run.
        timetable.withLock { $0.replan(nil, for: table) }
        let (wait, held) = try await attachment.changing(table, .process) { decisions in
            (try decisions.nextWait(pause: pause), try decisions.heldRecords())
        }
        if timetable.withLock({ $0.areMore(held: held, of: table) }) {
            attachment.database.events.send(SyncEvent(heldRecords: held, of: table))
        }
        let next = wait.map { wait in
            let pause: WaitReason.Pause = .milliseconds(wait) < push.every ? .every : .retry
            return PlannedSending(time: world.uptime + max(push.every, .milliseconds(wait)), pause: pause)
        }
        timetable.withLock { $0.plan(next, for: table) }
    }

    /// Waits until no other process brings records together with services.
    private func lock(_ attachment: RecordsAttachment) async throws -> Disk.HeldFile {
        while true {
            let lock = try await attachment.writing { database in
                try database.makeFolder()
                return try Disk.HeldFile(locking: database.file.path + "-run")
            }
            if let lock { return lock }
            try await world.sleep(for: .milliseconds(250))
        }
    }

    // MARK: Use

    /// How often the service is asked for records; nil if it is not.
    var pullInterval: Duration? { pull?.every }

    /// Whether records and the service are being brought together.
    var isRunning: Bool { timetable.withLock { $0.isRunning } }

    /// Whether the policy says how changes are sent.
    var sends: Bool { push != nil }

    /// How often everything is fetched, at least; nil if never.
    var fullPulls: Duration? { pull?.full }

    /// Returns the language of pages, if the puller tells it.
    func pullDialect(id: JSONPointer) -> PullDialect? { pull?.puller.dialect(id: id) }

    /// The language of changes, if the pusher tells it.
    var pushDialect: PushDialect? { push?.pusher.dialect }

    /// Sends changes soon, because some were made.
    func changed(_ table: RecordTable) {
        guard let push, let attachment = state.withLock({ $0.attachment }) else { return }
        let gather = attachment.outbox.gather
        let soon = PlannedSending(
            time: world.uptime + max(gather, push.every), pause: gather < push.every ? .every : .gather)
        timetable.withLock { $0.plan(soon, for: table) }
        item.changed()
    }

    /// Brings records together with the service, because the app came to the foreground, unless that was done just now.
    func appBecameActive() {
        let now = world.uptime
        if timetable.withLock({ $0.becameActive(at: now) }) { item.changed() }
    }

    /// Sends changes at once, because somebody has read a record with one. While a run is under way, nothing follows.
    func wasRead(_ table: RecordTable) {
        if push == nil || item.isRunning { return }
        let now = PlannedSending(time: world.uptime, pause: .gather)
        timetable.withLock { timetable in
            timetable.wish(.wake, for: table)
            timetable.replan(now, for: table)
        }
        item.changed()
    }

    /// Sends the requests of an account that can be sent now, and waits for that. If a run is under way, waits for that one.
    ///
    /// - Returns: whether there was a run.
    func send(_ table: RecordTable) async -> Bool {
        timetable.withLock { $0.wish(.send, for: table) }
        return await item.runNow()
    }

    /// Brings the records of an account together with the service now, and waits for that.
    ///
    /// - Parameter wish: whether records are fetched, too.
    /// - Throws: ``RecordError``; `LoadError`; `CancellationError`.
    func sync(_ table: RecordTable, as wish: SyncWish = .sync) async throws {
        timetable.withLock { timetable in
            timetable.wish(wish, for: table)
            timetable.forgetResult(of: wish, for: table)
        }
        while true {
            guard await item.runNow() else {
                try Task.checkCancellation()
                throw RecordError(.unavailable, Self.reason(item.unmet))
            }
            // A run that was under way already may have fetched nothing.
            if let result = timetable.withLock({ $0.result(of: wish, for: table) }) { return try result.get() }
            try Task.checkCancellation()
        }
    }

    /// Returns when changes of an account are sent that wait for nothing of their own.
    func prospect(of table: RecordTable) -> SendingProspect {
        if push == nil { return .never }
        switch item.unmet {
        case .network: return .network
        case .account: return .account
        case nil: break
        }
        // The origin calls in the name of another account.
        if let present = context.presentTable, present.scope != nil, table.scope != nil, present != table {
            return .account
        }
        if !context.allowsBackgroundWork { return .nextRun }
        let (now, uptime) = (world.now, world.uptime)
        guard let next = timetable.withLock({ $0.sending(of: table, at: uptime) }) else { return .nextRun }
        return .planned(now + (next.time - uptime), next.pause)
    }

    /// Forgets accounts that were cleared.
    func forget(_ isCleared: (RecordTable) -> Bool) {
        timetable.withLock { $0.forget(isCleared) }
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
    func end() async {
        let watches = state.withLock { state in
            defer { state.watches = [] }
            return state.watches
        }
        for watch in watches { watch?.stop() }
        await item.end()
    }
}

extension Decision.Kind {
    /// Records could not be brought together with the service.
    static let recordsNotSynced = Decision.Kind(rawValue: "records-not-synced")
}
