public import Larder

/// The settings of the section `records`.
struct RecordsSettings {
    let id = Setting("id", .pointer, help: "The place of the id in a record, such as \"/id\"")
    let ids = Setting(
        "ids", .choice(SyncRules.IDs.allCases.map(\.rawValue)), default: SyncRules.IDs.client.rawValue,
        help: "Who names new records: the client, whose ids the service keeps, or the server, until when they have "
            + "temporary ids")
    let version = Setting("version", optional: .pointer, help: "The place of the version in a record")
    let versions = Setting(
        "versions", .choice(["opaque", "increasing"]), default: "opaque",
        help: "Whether versions are numbers that grow, so that older records are ignored")
    let updatedAt = Setting(
        "updatedAt", optional: .pointer, help: "The place of the time of the last change in a record")
    let time = Setting(
        "time", optional: .choice(StampFormat.allCases.map(\.rawValue)),
        help: "How that time is written (default: as in the first record)")
    let indexes = Setting(
        "indexes", .list(of: .list(of: .indexField, atLeast: 1)), default: [],
        help: "Lists of fields by which records are found and sorted quickly; \"-\" before a field for descending")
    let keep = Setting(
        "keep", optional: .keepRule, help: "The records of the service that stay on this device; by default, all")
    let malformed = Setting(
        "malformed", .choice(["quarantine", "stop"]), default: "quarantine",
        help: "The way to treat a record that makes no sense: it is set aside, or the pull stops")
    let pull = Setting(
        "pull", optional: .part(.puller),
        help: "The way to ask the service for records; without it, they stay as they are")
    let push = Setting(
        "push", optional: .part(.pusher), help: "The way to send changes; without it, they wait on this device")
    let conflict = Setting(
        "conflict", defaultPartOf: .conflict, help: "The rule for records that the user and somebody else have changed")
    let edition = Setting(
        "edition", .int(1...1_000_000_000), default: 1,
        help: "A number that is raised to fetch all records anew; unsent changes stay")
    let sweepGuard = Setting(
        "sweepGuard", .share, default: 0.5,
        help: "The largest share of at least 20 records that one answer may delete")
}

extension Plugin {
    /// The section `records`: JSON records on this device, which can be changed offline.
    public static let records = Plugin.section(
        "records",
        "Keeps JSON records that are read at once and changed offline. It answers the loads of the resource.",
        .group(RecordsSettings()), counters: Counter.records, levels: [.outbox, .pull], gauges: Gauge.records,
        timings: Timing.records,
        traits: { settings in
            .with {
                $0.answersLoads = true
                $0.contradictions = settings.contradictions
                $0.risks = settings.risks
            }
        }
    ) { context, settings in try RecordsAttachment(settings, context) }
}

extension SettingValues<RecordsSettings> {
    fileprivate var contradictions: [Contradiction] {
        var found: [Contradiction] = []
        if self.updatedAt == nil, self.conflict.plugin.name == Plugin.lastWriteWins.name {
            found.append(Contradiction("conflict", "the last write is known only by 'updatedAt', which is not set"))
        }
        if self.version == nil, self.versions == "increasing" {
            found.append(Contradiction("versions", "records have no version, because 'version' is not set"))
        }
        if self.updatedAt == nil, self.time != nil {
            found.append(Contradiction("time", "records have no time, because 'updatedAt' is not set"))
        }
        let places = [self.id, self.version, self.updatedAt].compactMap { $0?.steps }
        if places.indices.contains(where: { index in places[..<index].contains { $0.isSamePlace(as: places[index]) } })
        {
            found.append(Contradiction("id", "'id', 'version' and 'updatedAt' are different places of a record"))
        }
        let unions = (self.conflict.customTraits.facts as? MergedLists)?.places ?? []
        if unions.contains(where: { union in places.contains { $0.isSamePlace(as: union) } }) {
            found.append(
                Contradiction(
                    "conflict.union", "'union' names the place of 'id', 'version' or 'updatedAt', which is no list"))
        }
        if self.indexes.contains(where: { $0.count > Self.mostFields }) {
            found.append(Contradiction("indexes", "an index has more than \(Self.mostFields) fields"))
        }
        found += pullFacts?.contradictions(updatedAt: self.updatedAt != nil, keep: self.keep) ?? []
        found += pushFacts?.contradictions(ids: idsRule) ?? []
        return found
    }

    fileprivate var risks: [Contradiction] {
        (pullFacts?.risks ?? []) + (pushFacts?.risks(ids: idsRule, version: self.version != nil) ?? [])
    }

    private var pullFacts: PullFacts? { self.pull?.customTraits.facts as? PullFacts }
    private var pushFacts: PushFacts? { self.push?.customTraits.facts as? PushFacts }
    private var idsRule: SyncRules.IDs { SyncRules.IDs(rawValue: self.ids) ?? .client }

    private static var mostFields: Int { 4 }

    /// The rules that these settings make, without those of other sections.
    func rules(in context: SectionContext) throws -> SyncRules {
        let choice = try self.conflict.make(ConflictChoice.self, in: context)
        var rules = SyncRules(idPath: self.id.steps)
        rules.ids = idsRule
        rules.versionPath = self.version?.steps
        rules.versionsIncrease = self.versions == "increasing"
        (rules.conflict, rules.unions) = (choice.rule, choice.unions)
        rules.sweepGuard = self.sweepGuard
        return rules
    }
}
