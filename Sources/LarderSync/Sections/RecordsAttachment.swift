import Larder
import LarderSystem

/// The part that keeps the records of a resource, and answers its loads from them.
final class RecordsAttachment: AnsweringAttachment {
    private struct State {
        /// Whether the indexes of the policy were looked after.
        var isPrepared = false
        /// The uptime of the next try to make them.
        var nextTry: Duration?
        /// How the times of the records are written; nil if that is not known yet.
        var stampFormat: StampFormat?
        /// The sizes of queues in versions of their tables.
        var queues: [RecordTable: (version: Int64, size: Int)] = [:]
        /// The fields of queries for which the lack of an index was told.
        var scanned: Set<[String]> = []
    }

    let database: RecordDatabase
    private let rules: SyncRules
    /// The place of the time of the last change; nil if records have none.
    private let stampPath: [String]?
    /// How the policy says that times are written; nil if it does not.
    let stampFormat: StampFormat?
    private let indexes: [[IndexField]]
    let edition: Int
    /// The records of the service that stay on this device; nil for all.
    let keep: KeepRule?
    /// Whether records of the service that make no sense are set aside. If not, the pull stops.
    let setsMalformedAside: Bool
    let context: SectionContext
    /// The work that brings the records together with the service; nil if the policy has neither `pull` nor `push`.
    let work: RecordsWork?
    private let state: Locked<State>
    /// The changes of the database, until this is closed.
    private let changes = Listeners<RecordDatabase.Change>()
    /// These, and the turns of the work.
    private let news = Listeners<RecordDatabase.Change>()
    /// Among them is the note that the records of this resource are in use.
    private let subscriptions: [Subscription]
    /// An empty place. Who holds one hears at the next start of a clearing that a crash has ended.
    private let clearings: ClearingPlace?

    /// - Throws: an error if the folder for what users wrote cannot be used.
    convenience init(_ settings: SettingValues<RecordsSettings>, _ context: SectionContext) throws {
        var plan = RecordsPlan(try settings.rules(in: context))
        (plan.stampPath, plan.stampFormat) = (settings.updatedAt?.steps, settings.time.flatMap(StampFormat.init))
        (plan.indexes, plan.edition) = (settings.indexes, settings.edition)
        (plan.keep, plan.setsMalformedAside) = (settings.keep, settings.malformed == "quarantine")
        plan.pull = try settings.pull?.make(PullPlan.self, in: context)
        plan.push = try settings.push?.make(PushPlan.self, in: context)
        try self.init(plan, context)
    }

    /// - Throws: an error if the folder for what users wrote cannot be used.
    init(_ plan: RecordsPlan, _ context: SectionContext) throws {
        self.context = context
        (rules, stampPath, indexes, edition) = (plan.rules, plan.stampPath, plan.indexes, plan.edition)
        (keep, setsMalformedAside) = (plan.keep, plan.setsMalformedAside)
        work =
            plan.pull == nil && plan.push == nil ? nil : RecordsWork(pull: plan.pull, push: plan.push, in: context)
        let place = try context.sharedDataPlace(Self.place)
        let path = place.path + "/records.sqlite"
        stampFormat = plan.stampFormat
        state = Locked(State(stampFormat: plan.stampFormat))
        clearings = try? ClearingPlace.of(context)
        database = context.share(path) {
            RecordDatabase(path, in: context.world) { try place.restore() }
        }
        subscriptions = [
            database.use(context.resource),
            database.changes.add { [changes, news, weak work] table in
                changes.send(table)
                // Also the sending of another resource's record can free changes.
                if let table, table.resource.utf8.elementsEqual(context.resource.utf8) { work?.changed(table) }
                news.send(table)
            },
            database.damages.add {
                context.tell(
                    .recordsDamaged,
                    "the database of records was damaged; what could be read was kept, and the rest is fetched anew")
            },
            database.counted.add { table, counts in
                // During a reload, two attachments of the resource hear of it. The one in effect counts.
                guard table.resource.utf8.elementsEqual(context.resource.utf8),
                    context.ownResource?.recordsAttachment?.context === context
                else { return }
                context.count(counts)
            },
        ]
        work?.begin(for: self)
    }

    /// The name of the folder that all resources with records share.
    static let place = "records"

    var world: any World { context.world }
    var resource: String { context.resource }
    /// The place of the time of the last change in a record.
    var updatedAt: JSONPointer? { stampPath.map { JSONPointer(steps: $0) } }

    /// How changes wait for the service.
    var outbox: OutboxRules { context.ownResource?.attachment(OutboxAttachment.self)?.rules ?? OutboxRules() }

    /// The planner of the policy that is in effect now.
    var planner: SyncPlanner {
        var rules = rules
        outbox.apply(to: &rules)
        rules.isPulled = work.map { $0.pullInterval != nil } ?? true
        // Without an origin there is one source, which has no mark.
        let marks = (try? context.ownResource?.sourceMarks) ?? []
        // Requests and changes of records have sources of their own, so that neither is sent as the other after a reload.
        let sources = rules.forgetsAccepted ? marks.map { SendQueue.sourcePrefix + $0 } : marks
        (rules.source, rules.formerSources) = (sources.first ?? "", Set(sources.dropFirst()))
        if let stampPath {
            rules.stamp = StampPlace(path: stampPath, format: state.withLock { $0.stampFormat } ?? .iso8601)
        }
        return SyncPlanner(rules)
    }

    /// Finds out how the times of the records are written, unless the policy says it or it is known.
    func findStampFormat(in table: Int64, _ connection: SQLiteConnection) throws {
        guard let stampPath, state.withLock({ $0.stampFormat == nil }) else { return }
        let base = try connection.first(
            "SELECT base FROM records WHERE t=? AND base IS NOT NULL LIMIT 1", .integer(table)
        ) { $0.text(0) }
        guard let base, let time = (try? JSONText(base.utf8))?[stampPath],
            let format = StampFormat(of: time)
        else { return }
        state.withLock { $0.stampFormat = format }
    }

    /// Returns whether a complete pull of the present source has shown which records there are.
    func isComplete(_ pull: PullState) -> Bool {
        guard pull.completedAt != nil, pull.edition == edition else { return false }
        return planner.rules.isPresent(pull.source)
    }

    /// Returns whether a record that is not here is not at the service either.
    func knowsAll(_ pull: PullState) -> Bool { isComplete(pull) && !pull.isTrimmed }

    /// Returns the size of the queue of a table; nil if it is not known for this version of the table.
    func queueSize(of table: RecordTable, at version: Int64) -> Int? {
        state.withLock { $0.queues[table].flatMap { $0.version == version ? $0.size : nil } }
    }

    /// Remembers the size of a queue after a transaction that has changed the table.
    func remember(_ part: RecordPart) {
        let queue = part.isSizeKnown ? (version: part.version + 1, size: part.queueSize) : nil
        state.withLock { $0.queues[part.table] = queue }
    }

    /// Reports a decision.
    func tell(_ kind: Decision.Kind, _ note: String) { context.tell(kind, note) }

    /// Records the time from a change to the page that shows it.
    func recordShowing(since heard: Duration) { context.record(.showing, world.uptime - heard) }

    /// Counts records that a list has left out.
    func countUndecodable(_ count: Int) { if count > 0 { context.count(.undecodableRecords, UInt64(count)) } }

    /// Counts a query for which no index fits, and tells its fields once.
    func countScan(_ fields: [String]) {
        context.count(.scans)
        let isNew = state.withLock { $0.scanned.count < 20 && $0.scanned.insert(fields).inserted }
        if !isNew { return }
        tell(
            .queryWithoutIndex,
            "a query by \(fields.map { "'\($0)'" }.joined(separator: ", ")) looks at far more records than it finds: "
                + "no list in 'indexes' fits")
    }

    // MARK: Use of the database

    /// Runs `body` on a thread that may block.
    func reading<Result: Sendable>(
        _ body: @escaping @Sendable (RecordDatabase) throws -> Result
    ) async throws -> Result {
        try await blocking { [self] in
            prepare()
            return try body(database)
        }
    }

    /// Runs `body` on one of as many threads as connections wait for their next use. Makes no indexes.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await world.blocking(on: database.file.path + "?read", atMost: SQLiteFile.mostReaders, body)
    }

    /// Runs `body` on the thread that writes.
    func writing<Result: Sendable>(
        _ body: @escaping @Sendable (RecordDatabase) throws -> Result
    ) async throws -> Result {
        try await world.blocking(on: database.file.path) { [self] in
            prepare()
            return try body(database)
        }
    }

    /// Decides about a table in a transaction.
    func changing<Result: Sendable>(
        _ table: RecordTable, _ durability: RecordDatabase.Durability,
        _ body: @escaping @Sendable (RecordDecisions) throws -> Result
    ) async throws -> Result {
        try await writing { [self] database in
            try database.changing(durability) { transaction in
                let number = try transaction.number(of: table, idPath: rules.idPath)
                try findStampFormat(in: number, transaction.connection)
                return try body(RecordDecisions(transaction, table, planner))
            }
        }
    }

    /// Makes the indexes that the policy declares, once. Without them, queries are slower and find the same. A tool beside the
    /// app leaves them to the app, whose policy may be another one.
    private func prepare() {
        if !context.allowsBackgroundWork { return }
        let now = world.uptime
        let isDue = state.withLock { state in
            if state.isPrepared || state.nextTry.map({ now < $0 }) == true { return false }
            state.nextTry = now + Self.pause
            return true
        }
        guard isDue else { return }
        do {
            try database.file.writing { connection in
                try RecordIndexes.prepare(indexes, of: resource, in: connection)
            }
            state.withLock { $0.isPrepared = true }
        } catch {
            context.tell(.indexesNotMade, "the indexes of the records could not be made: \(error)")
        }
    }

    /// The time after which indexes that could not be made are tried again.
    private static let pause = Duration.seconds(60)

    // MARK: Changes

    /// Returns a stream with an element at once and after each change of a table, until this is closed. Changes that nobody
    /// has read yet are one.
    func changes(of table: RecordTable) -> AsyncStream<RecordDatabase.Change> {
        changes.stream(most: 1, where: { $0 == nil || $0 == table }, after: { [nil] })
    }

    /// Returns a stream like ``changes(of:)``, which has an element also when a run begins or ends, and when the network or the
    /// account that the work waits for has come or gone.
    func news(of table: RecordTable) -> AsyncStream<RecordDatabase.Change> {
        news.stream(most: 1, where: { $0 == nil || $0 == table }, after: { [nil] })
    }

    /// Tells that a run begins or ends, or that the condition has changed for which the work waits.
    func tellTurn() { news.send(nil) }

    /// Calls a function after each change of any account, as in ``news(of:)``, until the returned subscription ends.
    func addNews(_ body: @escaping @Sendable () -> Void) -> Subscription { news.add { _ in body() } }

    // MARK: The attachment

    var loader: any Loader { RecordsLoader(attachment: self) }

    func close() async {
        for subscription in subscriptions { subscription.stop() }
        changes.end()
        news.end()
        await work?.end()
    }
}

/// The parts of a policy about records.
struct RecordsPlan {
    var rules: SyncRules
    /// The place of the time of the last change, and how it is written; nil if that is not known.
    var (stampPath, stampFormat): ([String]?, StampFormat?)
    var indexes: [[IndexField]] = []
    var edition = 1
    var keep: KeepRule?
    var setsMalformedAside = true
    var pull: PullPlan?
    var push: PushPlan?

    init(_ rules: SyncRules) { self.rules = rules }
}

extension Resource {
    /// The part that keeps its records, or the changes that are sent to it; nil if there is none.
    var recordsAttachment: RecordsAttachment? {
        attachment(RecordsAttachment.self) ?? attachment(OutboxAttachment.self)?.sends?.records
    }
}

extension Decision.Kind {
    /// The database of records was damaged, and what could be read was kept.
    static let recordsDamaged = Decision.Kind(rawValue: "records-damaged")
    /// The indexes of records could not be made.
    static let indexesNotMade = Decision.Kind(rawValue: "record-indexes-not-made")
    /// No index of the policy fits a query.
    static let queryWithoutIndex = Decision.Kind(rawValue: "query-without-index")
}
