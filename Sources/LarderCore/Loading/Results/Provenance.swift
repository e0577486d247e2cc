public import LarderSystem

/// Facts that a result holds behind a reference.
///
/// `@unchecked Sendable`: it has no state, and its subclasses say why they are safe.
@usableFromInline class HeldFacts: @unchecked Sendable {}

/// The facts of a ``Loaded`` that do not depend on the type of its value.
///
/// Each loader passes it on during a hit. So it is small, and holds its reasons and steps behind one reference, which
/// is nil on plain hits. The step that says why a copy was served is created only when the trail is read.
@usableFromInline package struct Provenance: Sendable {
    private enum Kind: UInt8 { case origin, revalidated, store, fallback }

    /// The state of a copy.
    package enum KnownCopy: UInt8, Sendable { case none, stale, fresh }

    /// The reasons and the steps that led to the value.
    ///
    /// `@unchecked Sendable`: nothing in it changes, and the superclass has no state.
    private final class History: HeldFacts, @unchecked Sendable {
        let statedReasons: [Permissions.StatedReason]
        let steps: [Trail.Step]
        /// The details of the entry from which the value was decoded.
        let details: Metadata.DetailsBox?
        /// The texts that are too long for ``InlineText``; empty otherwise.
        let (longName, longRevision): (String, String)

        init(
            statedReasons: [Permissions.StatedReason], steps: [Trail.Step], details: Metadata.DetailsBox?,
            longName: String, longRevision: String
        ) {
            self.statedReasons = statedReasons
            self.steps = steps
            self.details = details
            self.longName = longName
            self.longRevision = longRevision
        }
    }

    private var kind: Kind
    /// The copy that the origin could confirm, when the origin was asked.
    var known = KnownCopy.none
    var freshness: Freshness
    var isStored: Bool
    var fellBack: Bool
    private var uses: Uses
    /// The use for which the copy was served; empty if it was not served as a copy.
    private var use: Uses = []
    /// Whether the value was decoded from an entry. The value is then no entry itself.
    private var isDecoded = false
    /// The age in nanoseconds; `Int64.min` if it is not known.
    var nanoseconds: Int64
    private var freshNanoseconds: Int64
    /// The name of the tier or the fallback; empty for other sources, and if it is too long.
    private var shortName = InlineText()
    /// The revision of the policy; empty if there is none, and if it is too long.
    private var shortRevision = InlineText()
    /// A ``History``, or else the details of the entry from which the value was decoded. A second reference would make
    /// each layer slower.
    private var held: HeldFacts?
    private var history: History? { held as? History }
    /// A number that identifies the load for which a side of the graph created this. It is 0 if this was created
    /// elsewhere. If the value was decoded from an entry, it is the time of ``Metadata/ageStart`` in nanoseconds.
    private var seal: Int64 = 0

    init(
        source: Source, freshness: Freshness, isStored: Bool, fellBack: Bool, permissions: Permissions,
        nanoseconds: Int64, trail: Trail
    ) {
        kind = .origin
        self.freshness = freshness
        self.isStored = isStored
        self.fellBack = fellBack
        self.nanoseconds = nanoseconds
        (uses, freshNanoseconds) = (permissions.uses, permissions.freshNanoseconds)
        setHistory(permissions.statedReasons, trail.steps)
        revision = trail.revision ?? ""
        self.source = source
    }

    /// Creates the provenance of a copy that was found in a tier and is served for a permitted use.
    @inline(__always)
    init(
        in tier: String, _ copy: borrowing CopyFacts, of key: borrowing Key, load: UInt64 = 0, by revision: String,
        fellBack: Bool = false
    ) {
        kind = .store
        freshness = copy.isFresh ? .fresh : .stale
        isStored = true
        self.fellBack = fellBack
        seal = Self.seal(key, load)
        uses = copy.uses
        // A copy that may be served as fresh is always served as fresh.
        use = copy.isFresh ? .fresh : copy.use
        nanoseconds = copy.age
        freshNanoseconds = copy.freshNanoseconds
        name = tier
        self.revision = revision
    }

    /// Creates the provenance of a value that an origin has just sent.
    @usableFromInline init() {
        (kind, freshness, isStored, fellBack, uses) = (.origin, .fresh, false, false, .all)
        (nanoseconds, freshNanoseconds) = (0, -1)
    }

    /// Makes this the provenance of a value that was decoded from a copy in memory. It must not have been changed since it
    /// was created.
    @inline(__always)
    mutating func set(in tier: InlineText, _ copy: borrowing CopyFacts, by revision: InlineText) {
        kind = .store
        shortName = tier
        freshness = copy.isFresh ? .fresh : .stale
        isStored = true
        isDecoded = true
        seal = copy.ageStart
        uses = copy.uses
        use = copy.isFresh ? .fresh : copy.use
        nanoseconds = copy.age
        freshNanoseconds = copy.freshNanoseconds
        shortRevision = revision
    }

    /// Adds the validators' reasons for the permissions.
    @inline(never)
    mutating func state(_ reasons: [Permissions.StatedReason]) { setHistory(reasons, history?.steps ?? []) }

    private var name: String {
        get { history.map(\.longName).flatMap { $0.isEmpty ? nil : $0 } ?? shortName.text }
        set {
            shortName = InlineText(newValue) ?? InlineText()
            setLong(name: shortName.isEmpty ? newValue : "", revision: history?.longRevision ?? "")
        }
    }

    private var revision: String {
        get { history.map(\.longRevision).flatMap { $0.isEmpty ? nil : $0 } ?? shortRevision.text }
        set {
            shortRevision = InlineText(newValue) ?? InlineText()
            setLong(name: history?.longName ?? "", revision: shortRevision.isEmpty ? newValue : "")
        }
    }

    var source: Source {
        get {
            switch kind {
            case .origin: .origin
            case .revalidated: .revalidated
            case .store: .store(name)
            case .fallback: .fallback(name)
            }
        }
        set { (kind, name) = Self.parts(of: newValue) }
    }

    var permissions: Permissions {
        get { Permissions(uses, freshNanoseconds: freshNanoseconds, statedReasons: history?.statedReasons ?? []) }
        set {
            (uses, freshNanoseconds) = (newValue.uses, newValue.freshNanoseconds)
            setHistory(newValue.statedReasons, history?.steps ?? [])
        }
    }

    var trail: Trail {
        get {
            let steps = history?.steps ?? []
            return Trail(use.isEmpty ? steps : steps + [serving], revision: revision.isEmpty ? nil : revision)
        }
        set {
            revision = newValue.revision ?? ""
            use = []
            setHistory(history?.statedReasons ?? [], newValue.steps)
        }
    }

    /// Marks the provenance as created by a side of the graph for a load of this key. `load` is 0 for loads that are
    /// answered at once.
    mutating func seal(for key: Key, load: UInt64) { seal = Self.seal(key, load) }

    /// Returns whether a side of the graph created this for this load.
    @inline(__always)
    func isSealed(for key: Key, load: UInt64 = 0) -> Bool { seal == Self.seal(key, load) }

    @inline(__always)
    private static func seal(_ key: borrowing Key, _ load: UInt64) -> Int64 {
        Int64(truncatingIfNeeded: (key.hash ^ Int(truncatingIfNeeded: load &* 0x9E37_79B9_7F4A_7C15)) | 1)
    }

    /// Returns the provenance of another value that was made of `value`. It has no seal of a side of the graph.
    @usableFromInline
    func passedOn<Value, Other>(from value: Value, to other: Other.Type) -> Provenance {
        var copy = self
        if other == Entry.self {
            (copy.isDecoded, copy.seal) = (false, 0)
        } else if let entry = value as? Entry {
            copy.hold(entry.metadata)
        } else if !isDecoded {
            copy.seal = 0
        }
        return copy
    }

    /// Adds the steps that came before its own, and sets the revision of the policy.
    mutating func sign(after earlier: [Trail.Step], by revision: String) {
        self.revision = revision
        if earlier.isEmpty { return }
        let later = history?.steps ?? []
        setHistory(history?.statedReasons ?? [], later.isEmpty ? earlier : earlier + later)
    }

    /// Adds steps that came later.
    mutating func add(_ later: [Trail.Step]) {
        if !later.isEmpty { setHistory(history?.statedReasons ?? [], (history?.steps ?? []) + later) }
    }

    /// Notes that the copy is shown because a call failed, was refused or was too slow. `step` describes the call.
    mutating func standIn(after step: Trail.Step) {
        fellBack = true
        setHistory(history?.statedReasons ?? [], [step])
    }

    private mutating func setHistory(_ statedReasons: [Permissions.StatedReason], _ steps: [Trail.Step]) {
        set(
            statedReasons, steps: steps, details: held == nil ? nil : details, longName: history?.longName ?? "",
            longRevision: history?.longRevision ?? "")
    }

    private mutating func setLong(name: String, revision: String) {
        // Nearly all names are short.
        if held == nil && name.isEmpty && revision.isEmpty { return }
        set(
            history?.statedReasons ?? [], steps: history?.steps ?? [], details: details, longName: name,
            longRevision: revision)
    }

    private mutating func set(
        _ statedReasons: [Permissions.StatedReason], steps: [Trail.Step], details: Metadata.DetailsBox?,
        longName: String, longRevision: String
    ) {
        let isPlain = statedReasons.isEmpty && steps.isEmpty && longName.isEmpty && longRevision.isEmpty
        held =
            isPlain
            ? details
            : History(
                statedReasons: statedReasons, steps: steps, details: details, longName: longName,
                longRevision: longRevision)
    }

    private var serving: Trail.Step {
        let reasons = permissions.reasons(for: use)
        let age = Duration.nanoseconds(nanoseconds == .min ? 0 : nanoseconds)
        return Trail.Step(
            source.description, .copyShown(use == .fresh ? .fresh : .stale, age: age, reasons: reasons))
    }

    private static func parts(of source: Source) -> (Kind, String) {
        switch source {
        case .origin: (.origin, "")
        case .revalidated: (.revalidated, "")
        case .store(let tier): (.store, tier)
        case .fallback(let name): (.fallback, name)
        }
    }

    /// The facts about the copy, without its time and its size.
    var copyFacts: CopyFacts { CopyFacts(age: nanoseconds, freshNanoseconds: freshNanoseconds, uses: uses, use: use) }

    // MARK: Metadata

    /// Takes on the metadata of the entry from which the value was decoded. From now on this belongs to a value that is
    /// no entry.
    @inlinable @inline(__always)
    mutating func hold(_ metadata: borrowing Metadata) {
        hold(metadata.ageStart)
        if metadata.details != nil { holdDetails(of: metadata) }
    }

    @usableFromInline
    mutating func hold(_ ageStart: Timestamp) {
        isDecoded = true
        seal = ageStart.nanoseconds
    }

    @usableFromInline
    mutating func holdDetails(of metadata: borrowing Metadata) {
        if let details = metadata.details { hold(details) }
    }

    @usableFromInline @inline(never)
    mutating func hold(_ details: Metadata.DetailsBox) {
        if let history {
            set(
                history.statedReasons, steps: history.steps, details: details, longName: history.longName,
                longRevision: history.longRevision)
        } else {
            held = details
        }
    }

    /// The metadata of the entry from which the value was decoded, without the facts that only validators need. Nil if
    /// it was not decoded from one.
    var metadata: Metadata? {
        isDecoded ? Metadata(ageStart: Timestamp(nanoseconds: seal), details) : nil
    }

    private var details: Metadata.DetailsBox? { held as? Metadata.DetailsBox ?? history?.details }

    /// Whether the value is fresh and no call failed, so that the load is not logged.
    @inline(__always) var isPlain: Bool { freshness == .fresh && !fellBack }

    /// Whether the value is a copy of known age, and was not shown because of a failed or slow call.
    @inline(__always) var isHit: Bool { kind == .store && !fellBack && nanoseconds != .min }
}
