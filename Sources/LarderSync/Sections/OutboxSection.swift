public import Larder

/// The settings of the section `outbox`.
struct OutboxSettings {
    let durability = Setting(
        "durability", .choice(RecordDatabase.Durability.allCases.reversed().map(\.rawValue)),
        default: RecordDatabase.Durability.power.rawValue,
        help: "What a change survives when it returns: a power cut, or the end of the process")
    let capacity = Setting(
        "capacity", .size, default: 50_000_000,
        help: "The size of all unsent changes beyond which a further one throws; none is ever dropped")
    let most = Setting(
        "most", .int(1...10_000_000), default: 10_000,
        help: "The number of unsent changes beyond which a further one throws; none is ever dropped")
    let merge = Setting(
        "merge", .flag, default: true, help: "Whether changes of a record that were never sent become one")
    let gather = Setting(
        "gather", .duration, default: .milliseconds(300),
        help: "How long a change waits before it is sent, so that more of them become one")
    let retries = Setting(
        "retries", .int(0...100), default: 3,
        help: "The number of quick tries after a failed one, with the waits of backoff")
    let backoff = Setting(
        "backoff", .duration(.milliseconds(1) ... .forever), default: .seconds(1),
        help: "The wait before the first quick try; each further one is longer by factor")
    let factor = Setting("factor", .number(1...100), default: 2, help: "The factor by which these waits grow")
    let jitter = Setting(
        "jitter", .share, default: 0.2,
        help: "The largest part by which each wait is longer or shorter, so that many devices do not call together")
    let limit = Setting(
        "limit", .duration(.seconds(1) ... .forever), default: .seconds(900),
        help: "The longest wait; later tries begin a minute apart and double up to it. Tries never end")
    let order = Setting(
        "order", .list(of: .text), default: [],
        help: "The parameters whose values tell which requests wait for each other; without any, all wait in one line")
    let key = Setting(
        "key", .fieldOrNone, default: "Idempotency-Key",
        help: "The header field by which the service knows whether it has seen a request; \"\" if it knows none")
    let onRead = Setting(
        "onRead", .flag, default: false,
        help: "Whether reading a record with an unsent change sends it at once, without waiting for its time")
    let retention = Setting(
        "retention", optional: .duration(.seconds(1) ... .forever),
        help: "The time after which a change is not sent any more, but kept as a letter; by default, never")
    let onReject = Setting(
        "onReject", .choice(SyncRules.OnReject.allCases.map(\.rawValue)), default: SyncRules.OnReject.revert.rawValue,
        help:
            "What a record shows when the service refuses its change: \"revert\" the service's state, \"keep\" the user's"
    )
    let retry = Setting(
        "retry", .list(of: .status), default: [408, 425, 429],
        help: "The statuses after which a change is sent again; those of 500 and more always are")
    let hold = Setting(
        "hold", .list(of: .status), default: [401, 407],
        help: "The statuses after which changes wait until somebody signs in")
    let conflict = Setting(
        "conflict", .list(of: .status), default: [409, 412],
        help: "The statuses by which the service says that somebody else has changed the record")
    let reject = Setting(
        "reject", .list(of: .status), default: [],
        help: "The statuses by which the service refuses a change for good; others of 400 to 499 do as well")
}

extension SettingType where Value == Int {
    /// A status that refuses.
    fileprivate static var status: SettingType<Int> { .int(400...599) }
}

extension Plugin {
    /// The section `outbox`: the queue of what waits for the service. Beside the section `records` that are changes of records.
    /// Without it, they are the requests of `Resource.send`, which survive the end of the process.
    public static let outbox = Plugin.section(
        "outbox", "Keeps changes until the service has them, and says how they wait.", .group(OutboxSettings()),
        counters: Counter.records, levels: [.outbox], gauges: Gauge.records, timings: Timing.sends,
        traits: { settings in
            .with {
                for name in ["merge", "gather", "onReject", "onRead", "conflict"] {
                    $0.settingsNeedingSection[name] = records.name
                }
                for name in ["order", "key"] { $0.settingsExcludedBySection[name] = records.name }
                $0.contradictions = settings.contradictions
            }
        }
    ) { context, settings in try OutboxAttachment(OutboxRules(settings), context) }
}

/// How changes and requests wait for the service.
struct OutboxRules: Hashable, Sendable {
    var durability = RecordDatabase.Durability.power
    /// The most bytes of unsent changes of a resource and account, and the most changes.
    var (capacity, most) = (50_000_000, 10_000)
    var merges = true
    var gather = Duration.milliseconds(300)
    var backoff = BackoffRule()
    /// The time after which a change is not sent any more, in milliseconds; nil for never.
    var retention: Int64?
    var onReject = SyncRules.OnReject.revert
    var statuses = PushStatuses()
    /// The parameters that tell which requests wait for each other.
    var order: [String] = []
    /// The header field for the key of a request; nil if the service knows none.
    var key: String?
    /// Whether reading a record with an unsent change sends it at once.
    var sendsOnRead = false

    init() {}

    /// Makes these rules part of those of records.
    func apply(to rules: inout SyncRules) {
        (rules.merges, rules.backoff, rules.retention, rules.onReject) = (merges, backoff, retention, onReject)
    }

    init(_ settings: SettingValues<OutboxSettings>) {
        durability = RecordDatabase.Durability(rawValue: settings.durability) ?? .power
        (capacity, most, merges) = (settings.capacity, settings.most, settings.merge)
        gather = settings.gather
        backoff = BackoffRule(
            retries: settings.retries, first: settings.backoff.milliseconds, factor: settings.factor,
            limit: settings.limit.milliseconds, jitter: settings.jitter)
        retention = settings.retention?.milliseconds
        (order, sendsOnRead) = (settings.order, settings.onRead)
        key = settings.key.isEmpty ? nil : settings.key
        onReject = SyncRules.OnReject(rawValue: settings.onReject) ?? .revert
        statuses = PushStatuses(
            later: Set(settings.retry), signedOut: Set(settings.hold), conflict: Set(settings.conflict),
            rejected: Set(settings.reject))
    }
}

extension SettingValues<OutboxSettings> {
    fileprivate var contradictions: [Contradiction] {
        var found: [Contradiction] = []
        let all = self.retry + self.hold + self.conflict + self.reject
        if Set(all).count < all.count {
            found.append(Contradiction("retry", "a status is in two of 'retry', 'hold', 'conflict' and 'reject'"))
        }
        if let retention = self.retention, retention < self.limit {
            found.append(
                Contradiction("retention", "changes are given up before the longest wait ('limit') has passed"))
        }
        return found
    }
}

extension Duration {
    /// The whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, rest) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
        return isTooLong ? .max : product + rest / 1_000_000_000_000_000
    }
}
