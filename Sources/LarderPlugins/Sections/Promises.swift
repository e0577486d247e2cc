import LarderSystem
public import LarderCore

/// The settings of the section `promises`.
private struct PromisesSettings {
    let neverOlderThan = Setting(
        "neverOlderThan", optional: .duration,
        help:
            "Nothing older than this is shown, whatever happens; a fallback, whose age is unknown, breaks the promise"
    ).alsoCalled("maxAge", "maxStale", "ttl")
    let waits = Setting(
        "waits", optional: .duration,
        help: "The longest time that a load takes while there is a copy which may be shown"
    ).alsoCalled("patience")
    let waitsAtMost = Setting(
        "waitsAtMost", optional: .duration, help: "The longest time that any load takes, fallbacks included"
    ).alsoCalled("timeout", "limit", "deadline", "maxWait", "maxLatency")
    let offlineFor = Setting(
        "offlineFor", optional: .duration(.milliseconds(1) ... .forever),
        help: "How long after a load that the origin answered loads without network are answered, too"
    ).alsoCalled("offline")
    let callsPerLoad = Setting(
        "callsPerLoad", optional: .int(0...1_000_000),
        help:
            "The largest number of calls to origins that one load causes, with retries, hedges, mirrors and refreshes"
    ).alsoCalled("calls", "maxCalls")
    let freshWithin = Setting(
        "freshWithin", optional: .duration,
        help:
            "While the origin answers in time, nothing older than this is shown unless a refresh follows within it")
    let losesNothing = Setting(
        "losesNothing", .flag, default: false,
        help: "Each change of a record that was kept reaches the service, or is kept as a letter with the reason")
    let appliesOnce = Setting(
        "appliesOnce", .flag, default: false,
        help: "The service makes no change of a record twice, also if its answers are lost")
    let noLostUpdate = Setting(
        "noLostUpdate", .flag, default: false,
        help: "No change of a record replaces one of another device that was never seen, and all of them are seen")
    let sentWithin = Setting(
        "sentWithin", optional: .duration,
        help:
            "The time within which a change of a record reaches the service, once there is a network, also if two tries fail"
    )
}

extension Plugin {
    /// A section that says what users can rely on.
    static let promises = Plugin.section(
        "promises",
        "Says what users of the resource can rely on. It changes nothing while an app runs: 'larder prove' shows whether "
            + "the policy keeps its promises.",
        .group(PromisesSettings()),
        traits: { settings in
            .with {
                for name in ["losesNothing", "appliesOnce", "noLostUpdate", "sentWithin"] {
                    $0.settingsNeedingSection[name] = "records"
                }
                $0.contradictions = Promises(settings).contradictions
            }
        }
    ) { _, settings in Promises(settings) }
}

/// The promises of a policy: what users of its resource can rely on. They do nothing at run time; `larder prove` plays
/// the situations that could break them.
///
/// An app reads them with `pantry.attachment(Promises.self, of: "catalog")`.
public struct Promises: Attachment, Hashable {
    /// The age that nothing which is shown exceeds.
    public var neverOlderThan: Duration?
    /// The longest time that a load takes while a copy may be shown.
    public var waits: Duration?
    /// The longest time that any load takes.
    public var waitsAtMost: Duration?
    /// How long after a load that the origin answered loads without network are answered, too.
    public var offlineFor: Duration?
    /// The largest number of calls to origins that one load causes.
    public var callsPerLoad: Int?
    /// The age that nothing exceeds while the origin answers in time. A greater age is allowed if a refresh follows
    /// within this time.
    public var freshWithin: Duration?
    /// Whether each change of a record reaches the service, or is kept as a letter.
    public var losesNothing = false
    /// Whether the service makes no change of a record twice.
    public var appliesOnce = false
    /// Whether no change of a record replaces one of another device that was never seen.
    public var noLostUpdate = false
    /// The time within which a change of a record reaches the service, once there is a network.
    public var sentWithin: Duration?

    /// Whether there is a promise about changes of records.
    public var isAboutRecords: Bool { losesNothing || appliesOnce || noLostUpdate || sentWithin != nil }
    /// Whether there is a promise about loads.
    public var isAboutLoads: Bool {
        neverOlderThan != nil || waits != nil || waitsAtMost != nil || offlineFor != nil || callsPerLoad != nil
            || freshWithin != nil
    }

    /// Makes promises. Those that are left out are not given.
    public init(
        neverOlderThan: Duration? = nil, waits: Duration? = nil, waitsAtMost: Duration? = nil,
        offlineFor: Duration? = nil, callsPerLoad: Int? = nil, freshWithin: Duration? = nil
    ) {
        self.neverOlderThan = neverOlderThan
        self.waits = waits
        self.waitsAtMost = waitsAtMost
        self.offlineFor = offlineFor
        self.callsPerLoad = callsPerLoad
        self.freshWithin = freshWithin
    }

    fileprivate init(_ settings: SettingValues<PromisesSettings>) {
        self.init(
            neverOlderThan: settings.neverOlderThan, waits: settings.waits, waitsAtMost: settings.waitsAtMost,
            offlineFor: settings.offlineFor, callsPerLoad: settings.callsPerLoad, freshWithin: settings.freshWithin)
        (losesNothing, appliesOnce, noLostUpdate) = (settings.losesNothing, settings.appliesOnce, settings.noLostUpdate)
        sentWithin = settings.sentWithin
    }

    /// Whether there is no promise.
    public var isEmpty: Bool { self == Promises() }

    /// The first promise about loads that is given.
    private var firstAboutLoads: String? {
        let all: [(String, Bool)] = [
            ("neverOlderThan", neverOlderThan != nil), ("waits", waits != nil), ("waitsAtMost", waitsAtMost != nil),
            ("offlineFor", offlineFor != nil), ("callsPerLoad", callsPerLoad != nil),
            ("freshWithin", freshWithin != nil),
        ]
        return all.first { $0.1 }?.0
    }

    /// The promises that no policy can keep together, and a section without any.
    fileprivate var contradictions: [Contradiction] {
        if isEmpty {
            return [Contradiction("neverOlderThan", "there is no promise", expected: "at least one promise")]
        }
        if isAboutLoads, isAboutRecords {
            return [
                Contradiction(
                    firstAboutLoads ?? "neverOlderThan",
                    "promises about loads and about changes of records cannot be proved together",
                    expected: "promises of one kind")
            ]
        }
        guard let offlineFor, let neverOlderThan, neverOlderThan < offlineFor else { return [] }
        return [
            Contradiction(
                "offlineFor",
                "without network only copies can be shown, and 'neverOlderThan' forbids them before 'offlineFor' is over",
                expected: "a time that is not longer than 'neverOlderThan'")
        ]
    }
}
