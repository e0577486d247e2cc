import Larder

/// The reasons to ask for a run. Each includes those before it.
enum SyncWish: Int, Comparable {
    /// Sends what can be sent now.
    case send
    /// Lets no change wait for its time, except as the service has asked.
    case wake
    /// Fetches records, too.
    case sync

    static func < (left: SyncWish, right: SyncWish) -> Bool { left.rawValue < right.rawValue }
}

/// When the records of a resource are fetched and sent: what was asked for, what is planned, and what is under way. It reads
/// no clock: all times are uptimes.
struct SyncTimetable {
    /// The tables for which the next run was asked for.
    private var wishes: [RecordTable: SyncWish] = [:]
    /// The last results of the tables, by the wishes that they meet.
    private var results: [SyncWish: [RecordTable: Result<Void, any Error>]] = [:]
    private var times: [RecordTable: SyncTimes] = [:]
    /// The numbers of records that wait for another source, as the app was told.
    private var held: [RecordTable: Int] = [:]
    /// The time before which nothing begins, because many installations may have come back online together.
    private var spread: Duration?
    /// The condition that was not met at the last look, the network or an account.
    private var unmet: AgendaConditions.Unmet?
    /// Whether a run is under way.
    var isRunning = false
    /// Whether the next run waits for no time, because there is a network or an account again, or for the first time.
    private var isDue = true
    /// The time of the last fetch that was begun.
    private var lastFetch: Duration?
    /// The marks of the source for which the times are; nil before the first look.
    private var marks: [String]?

    /// The time over which installations that come back online are spread.
    static let spread = Duration.seconds(5)
    /// The shortest time between two runs because the app came to the foreground.
    static let activationPause = Duration.seconds(60)

    // MARK: Turns

    /// Returns what the agenda does next.
    ///
    /// - Parameters:
    ///   - unmet: the condition that is not met; nil if all are.
    ///   - present: the table of the present account.
    ///   - part: the part of the spread that this installation waits.
    /// - Returns: the step, and whether the condition is another one than at the last look.
    mutating func step(
        of present: RecordTable, unmet: AgendaConditions.Unmet?, isPulled: Bool, at now: Duration, part: () -> Double
    ) -> (step: AgendaStep, isNew: Bool) {
        let isNew = self.unmet != unmet
        self.unmet = unmet
        if unmet != nil { return (.waitForDevice, isNew) }
        if isNew {
            isDue = true
            spread = now + Self.spread.scaled(by: part())
        }
        let next = isDue ? nil : nextRun(of: present, isPulled: isPulled)
        let due = max(next ?? now, spread ?? now)
        return (due > now ? .wait(due - now) : .run, isNew)
    }

    /// Returns the time of the next run; nil if it is due at once.
    private func nextRun(of present: RecordTable, isPulled: Bool) -> Duration? {
        guard let own = times[present] else { return nil }
        let pulls = isPulled ? own.pull : nil
        return ([pulls] + times.values.map(\.push?.time)).compactMap(\.self).min() ?? .seconds(86_400 * 365)
    }

    /// Notes the source that the policy names. If it is another one than before, everything is asked for anew, and what waited
    /// for the former one is sent.
    mutating func note(source marks: [String], sends: Bool, at now: Duration) {
        if let known = self.marks, known != marks {
            let next = sends ? PlannedSending(time: now, pause: .gather) : nil
            for table in times.keys { times[table] = SyncTimes(push: next) }
        }
        self.marks = marks
    }

    /// The work of one run.
    struct Run {
        /// The wishes of those who asked for it.
        var wishes: [RecordTable: SyncWish]
        /// Whether it waited for no time.
        var isDue: Bool
        /// The tables whose changes are sent now.
        var waiting: [RecordTable]
    }

    /// Takes the work of the run that begins now.
    mutating func takeRun(at now: Duration) -> Run {
        defer { (wishes, isDue) = ([:], false) }
        let waiting = times.filter { times in isDue || times.value.push.map { $0.time <= now } ?? false }
        return Run(wishes: wishes, isDue: isDue, waiting: waiting.map(\.key))
    }

    /// Notes the result of a run for whoever has asked for it.
    mutating func ended(_ table: RecordTable, as wish: SyncWish?, _ result: Result<Void, any Error>) {
        guard let wish else { return }
        for met in [SyncWish.wake, .sync] where wish >= met { results[met, default: [:]][table] = result }
    }

    // MARK: Fetching

    func isPullDue(_ table: RecordTable, at now: Duration) -> Bool { times[table, default: SyncTimes()].pull <= now }

    mutating func fetchBegan(at now: Duration) { lastFetch = now }

    mutating func pulled(_ table: RecordTable, at now: Duration, every: Duration) {
        times[table, default: SyncTimes()].pulled(at: now, every: every)
    }

    mutating func pullFailed(_ table: RecordTable, at now: Duration, every: Duration) {
        times[table, default: SyncTimes()].failed(at: now, every: every)
    }

    // MARK: Sending

    /// Sends the changes of a table at a time, unless they are sent earlier anyway.
    mutating func plan(_ next: PlannedSending?, for table: RecordTable) {
        let known = times[table]?.push
        times[table, default: SyncTimes()].push = .earlier(known, next)
    }

    /// Sends the changes of a table at a time and not before. With nil, only a change that is made from now on plans a run.
    mutating func replan(_ next: PlannedSending?, for table: RecordTable) {
        times[table, default: SyncTimes()].push = next
    }

    /// Notes how many records wait for another source.
    ///
    /// - Returns: whether there are more than the app was told.
    mutating func areMore(held count: Int, of table: RecordTable) -> Bool {
        defer { held[table] = count }
        return count > held[table] ?? 0
    }

    /// Returns when changes of a table are sent that wait for nothing of their own.
    ///
    /// - Returns: the time and the reason to wait until then; nil if the next run sends them.
    func sending(of table: RecordTable, at now: Duration) -> PlannedSending? {
        if isRunning { return nil }
        var next = isDue ? nil : times[table]?.push
        if let spread, spread > max(now, next?.time ?? now) { next = PlannedSending(time: spread, pause: .spread) }
        return next.flatMap { $0.time > now ? $0 : nil }
    }

    // MARK: Wishes

    /// Notes what somebody asks for.
    mutating func wish(_ wish: SyncWish, for table: RecordTable) {
        wishes[table] = max(wishes[table] ?? wish, wish)
    }

    /// Forgets the result of a former run, so that the next one is waited for.
    mutating func forgetResult(of wish: SyncWish, for table: RecordTable) { results[wish]?[table] = nil }

    /// Returns the result of the last run that has met a wish.
    func result(of wish: SyncWish, for table: RecordTable) -> Result<Void, any Error>? { results[wish]?[table] }

    /// Notes that the app came to the foreground.
    ///
    /// - Returns: whether a run is due: records were not fetched just now.
    mutating func becameActive(at now: Duration) -> Bool {
        if let lastFetch, now - lastFetch < Self.activationPause { return false }
        isDue = true
        return true
    }

    /// Forgets accounts that were cleared.
    mutating func forget(_ isCleared: (RecordTable) -> Bool) {
        times = times.filter { !isCleared($0.key) }
        held = held.filter { !isCleared($0.key) }
    }
}
