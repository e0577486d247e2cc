import Larder
import LarderSystem

/// The work of the section `records` that nobody waits for: it fetches records on a schedule, and sends what users change.
///
/// One run at a time brings records together with the service, also among processes. Whoever asks for a run while one is
/// under way waits for it.
final class RecordsWork: AgendaWork {
    fileprivate struct State {
        weak var attachment: RecordsAttachment?
        var network: Subscription?
        /// Whether the app comes to the foreground.
        var foreground: Subscription?
        /// The uptime of the last fetch that was begun.
        var lastFetch: Duration?
        /// The watch for changes that other processes make, such as an extension of the app.
        var others: Subscription?
        /// The tables for which the next run was asked for.
        var wishes: [RecordTable: Wish] = [:]
        /// The last results of the tables, by the wishes that they meet.
        var results: [Wish: [RecordTable: Result<Void, any Error>]] = [:]
        var times: [RecordTable: SyncTimes] = [:]
        /// The numbers of records that wait for another source, as the app was told.
        var held: [RecordTable: Int] = [:]
        /// The uptime before which nothing begins, because many installations may have come back online together.
        var spread: Duration?
        /// The condition that was not met at the last look, the network or an account.
        var unmet: AgendaConditions.Unmet?
        /// Whether a run is under way.
        var isRunning = false
        /// Whether the next run waits for no time, because there is a network or an account again, or for the first time.
        var isDue = true
        /// The marks of the source for which the times are; nil before the first look.
        var marks: [String]?
    }

    /// The reasons to ask for a run. Each includes those before it.
    enum Wish: Int, Comparable {
        /// Sends what can be sent now.
        case send
        /// Lets no change wait for its time, except as the service has asked.
        case wake
        /// Fetches records, too.
        case sync

        static func < (left: Wish, right: Wish) -> Bool { left.rawValue < right.rawValue }
    }

    /// The time over which installations that come back online are spread.
    static let spread = Duration.seconds(5)

    let pull: PullPlan?
    let push: PushPlan?
    private let context: SectionContext
    private let item: AgendaItem
    private let state = Locked(State())

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
        state.withLock { ($0.network, $0.others, $0.foreground) = (network, others, foreground) }
    }

    private var world: any World { context.world }

    // MARK: The agenda

    func next(isMet: Bool) -> AgendaStep {
        guard let present = context.presentTable else { return .waitForDevice }
        let (now, chance) = (world.uptime, world.chance)
        lookAtSource()
        let unmet = isMet ? nil : item.unmet ?? .network
        let (step, isNew) = state.withLock { state in
            let isNew = state.unmet != unmet
            defer { state.unmet = unmet }
            if unmet != nil { return (AgendaStep.waitForDevice, isNew) }
            if isNew {
                state.isDue = true
                state.spread = now + Self.spread.scaled(by: chance())
            }
            let next = state.isDue ? nil : state.nextRun(of: present, hasPull: pull != nil)
            let due = max(next ?? now, state.spread ?? now)
            return (due > now ? .wait(due - now) : .run, isNew)
        }
        if isNew { tellTurn() }
        return step
    }

    /// After a reload with another source, everything is asked for anew, and what waited for this source is sent.
    private func lookAtSource() {
        let (marks, now) = ((try? context.ownResource?.sourceMarks) ?? [], world.uptime)
        state.withLock { state in
            if let known = state.marks, known != marks {
                let next = push == nil ? nil : PlannedSending(time: now, pause: .gather)
                for table in state.times.keys { state.times[table] = SyncTimes(push: next) }
            }
            state.marks = marks
        }
    }

    func run() async {
        setRunning(true)
        await runAll()
        setRunning(false)
    }

    private func setRunning(_ isRunning: Bool) {
        state.withLock { $0.isRunning = isRunning }
        tellTurn()
    }

    private func tellTurn() { state.withLock { $0.attachment }?.tellTurn() }

    private func runAll() async {
        lookAtSource()
        let (wishes, isDue, waiting) = state.withLock { state in
            defer { (state.wishes, state.isDue) = ([:], false) }
            let waiting = state.times.filter { times in
                state.isDue || times.value.push.map { $0.time <= world.uptime } ?? false
            }
            return (state.wishes, state.isDue, waiting.map(\.key))
        }
        let present = context.presentTable.map { [$0] } ?? []
        // A former process may have left changes of any account.
        let unsent = isDue && push != nil ? await unsentTables() : []
        let others = Set(wishes.keys).union(waiting).union(unsent).subtracting(present)
            .sorted { ($0.scope ?? "") < ($1.scope ?? "") }
        for table in present + others {
            let wish: Wish? = isDue ? .sync : wishes[table]
            // Another account is only sent to, unless somebody asks: it may have been cleared.
            let isPulled = wishes[table] == .sync || present.contains(table)
            let result = await run(table, as: wish, isPulled: isPulled)
            for met in [Wish.wake, .sync] where wish.map({ $0 >= met }) == true {
                state.withLock { $0.results[met, default: [:]][table] = result }
            }
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
    private func run(_ table: RecordTable, as wish: Wish?, isPulled: Bool) async -> Result<Void, any Error> {
        guard let attachment = state.withLock({ $0.attachment }) else { return .failure(CancellationError()) }
        var pause = SyncTimes.firstWait
        do {
            let lock = try await lock(attachment)
            defer { withExtendedLifetime(lock) {} }
            let pullIsDue = state.withLock {
                isPulled && (wish == .sync || $0.times[table, default: SyncTimes()].pull <= world.uptime)
            }
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
        state.withLock { $0.lastFetch = world.uptime }
        do {
            try await RecordsPull(attachment: attachment, table: table, plan: plan).run()
            state.withLock { $0.times[table, default: SyncTimes()].pulled(at: world.uptime, every: plan.every) }
        } catch {
            if !(error is CancellationError) {
                state.withLock { $0.times[table, default: SyncTimes()].failed(at: world.uptime, every: plan.every) }
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
        state.withLock { state in
            var times = state.times[table, default: SyncTimes()]
            if !isPlanned, let push {
                times.push = PlannedSending(time: now + max(push.every, SyncTimes.firstWait), pause: .retry)
            }
            if let pull, times.pull <= now, !(error is CancellationError) { times.failed(at: now, every: pull.every) }
            state.times[table] = times
        }
    }

    /// - Parameter pause: the wait of what was not sent because the service did not answer, unless something that was sent
    ///   waits for its next try; nil if it has answered.
    private func planNextPush(
        of table: RecordTable, _ attachment: RecordsAttachment, _ pause: Duration?
    ) async throws {
        guard let push else { return }
        // A change that is made from now on plans its own run.
        state.withLock { $0.times[table, default: SyncTimes()].push = nil }
        let (wait, held) = try await attachment.changing(table, .process) { decisions in
            (try decisions.nextWait(pause: pause), try decisions.heldRecords())
        }
        let isNew = state.withLock { state in
            defer { state.held[table] = held }
            return held > state.held[table] ?? 0
        }
        if isNew { attachment.database.events.send(SyncEvent(heldRecords: held, of: table)) }
        state.withLock { state in
            let next = wait.map { wait in
                let pause: WaitReason.Pause = .milliseconds(wait) < push.every ? .every : .retry
                return PlannedSending(time: world.uptime + max(push.every, .milliseconds(wait)), pause: pause)
            }
            let known = state.times[table]?.push
            state.times[table, default: SyncTimes()].push = .earlier(known, next)
        }
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
    var isRunning: Bool { state.withLock { $0.isRunning } }

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
        state.withLock { state in
            let known = state.times[table]?.push
            state.times[table, default: SyncTimes()].push = .earlier(known, soon)
        }
        item.changed()
    }

    /// The shortest time between two runs because the app came to the foreground.
    static let activationPause = Duration.seconds(60)

    /// Brings records together with the service, because the app came to the foreground, unless that was done just now.
    func appBecameActive() {
        let now = world.uptime
        let isDue = state.withLock { state in
            if let last = state.lastFetch, now - last < Self.activationPause { return false }
            state.isDue = true
            return true
        }
        if isDue { item.changed() }
    }

    /// Sends changes at once, because somebody has read a record with one. While a run is under way, nothing follows.
    func wasRead(_ table: RecordTable) {
        if push == nil || item.isRunning { return }
        state.withLock { state in
            state.wishes[table] = max(state.wishes[table] ?? .wake, .wake)
            state.times[table, default: SyncTimes()].push = PlannedSending(time: world.uptime, pause: .gather)
        }
        item.changed()
    }

    /// Sends the requests of an account that can be sent now, and waits for that. If a run is under way, waits for that one.
    ///
    /// - Returns: whether there was a run.
    func send(_ table: RecordTable) async -> Bool {
        state.withLock { $0.wishes[table] = max($0.wishes[table] ?? .send, .send) }
        return await item.runNow()
    }

    /// Brings the records of an account together with the service now, and waits for that.
    ///
    /// - Parameter wish: whether records are fetched, too.
    /// - Throws: ``RecordError``; `LoadError`; `CancellationError`.
    func sync(_ table: RecordTable, as wish: Wish = .sync) async throws {
        state.withLock { state in
            state.wishes[table] = max(state.wishes[table] ?? wish, wish)
            state.results[wish]?[table] = nil
        }
        while true {
            guard await item.runNow() else {
                try Task.checkCancellation()
                throw RecordError(.unavailable, Self.reason(item.unmet))
            }
            // A run that was under way already may have fetched nothing.
            if let result = state.withLock({ $0.results[wish]?[table] }) { return try result.get() }
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
        return state.withLock { state in
            if state.isRunning { return .nextRun }
            var next = state.isDue ? nil : state.times[table]?.push
            if let spread = state.spread, spread > max(uptime, next?.time ?? uptime) {
                next = PlannedSending(time: spread, pause: .spread)
            }
            guard let next, next.time > uptime else { return .nextRun }
            return .planned(now + (next.time - uptime), next.pause)
        }
    }

    /// Forgets accounts that were cleared.
    func forget(_ isCleared: (RecordTable) -> Bool) {
        state.withLock { state in
            state.times = state.times.filter { !isCleared($0.key) }
            state.held = state.held.filter { !isCleared($0.key) }
        }
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
        let watches = state.withLock { [$0.network.take(), $0.others.take(), $0.foreground.take()] }
        for watch in watches { watch?.stop() }
        await item.end()
    }
}

extension RecordsWork.State {
    /// Returns the uptime of the next run; nil if it is due at once.
    fileprivate func nextRun(of present: RecordTable, hasPull: Bool) -> Duration? {
        guard let own = times[present] else { return nil }
        let pulls = hasPull ? own.pull : nil
        return ([pulls] + times.values.map(\.push?.time)).compactMap(\.self).min() ?? .seconds(86_400 * 365)
    }
}

extension Decision.Kind {
    /// Records could not be brought together with the service.
    static let recordsNotSynced = Decision.Kind(rawValue: "records-not-synced")
}
