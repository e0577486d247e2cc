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
}

extension Plugin {
    /// The section `outbox`: the queue of changes of records that wait for the service.
    public static let outbox = Plugin.section(
        "outbox", "Says how changes of records wait for the service.", .group(OutboxSettings()),
        traits: { _ in .with { $0.needsSection = records.name } }
    ) { _, settings in OutboxAttachment(rules: OutboxRules(settings)) }
}

/// How changes wait for the service.
struct OutboxRules: Hashable, Sendable {
    var durability = RecordDatabase.Durability.power
    /// The most bytes of unsent changes of a resource and account, and the most changes.
    var (capacity, most) = (50_000_000, 10_000)
    var merges = true

    init() {}

    init(_ settings: SettingValues<OutboxSettings>) {
        durability = RecordDatabase.Durability(rawValue: settings.durability) ?? .power
        (capacity, most, merges) = (settings.capacity, settings.most, settings.merge)
    }
}

/// The section `outbox` of a resource.
struct OutboxAttachment: Attachment {
    let rules: OutboxRules
}
