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

        init(statedReasons: [Permissions.StatedReason], steps: [Trail.Step], details: Metadata.DetailsBox?) {
            self.statedReasons = statedReasons
            self.steps = steps
            self.details = details
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
    /// The name of the tier or the fallback; empty for other sources.
    private var name: String
    /// The revision of the policy; empty if there is none.
    private var revision: String
    /// A ``History``, or else the details of the entry from which the value was decoded. A second reference would make
    /// each layer slower.
    private var held: HeldFacts?
    private var history: History? { held as? History }
    /// A number that identifies the load for which a side of the graph created this; 0 if it was created elsewhere. If
    /// the value was decoded from an entry, the time of ``Metadata/ageStart`` in nanoseconds instead.
    private var seal: Int64 = 0

    init(
        source: Source, freshness: Freshness, isStored: Bool, fellBack: Bool, permissions: Permissions,
        nanoseconds: Int64, trail: Trail
    ) {
        (kind, name) = Self.parts(of: source)
        self.freshness = freshness
        self.isStored = isStored
        self.fellBack = fellBack
        self.nanoseconds = nanoseconds
        (uses, freshNanoseconds) = (permissions.uses, permissions.freshNanoseconds)
        revision = trail.revision ?? ""
        setHistory(permissions.statedReasons, trail.steps)
    }

    /// Creates the provenance of a copy that was found in a tier and is served for a permitted use.
    @inline(__always)
    init(
        in tier: consuming String, aged nanoseconds: Int64, _ permissions: borrowing Permissions, for use: Uses,
        of key: borrowing Key, load: UInt64 = 0, by revision: String, fellBack: Bool = false
    ) {
        kind = .store
        name = tier
        let isFresh = permissions.uses.contains(.fresh)
        freshness = isFresh ? .fresh : .stale
        isStored = true
        self.fellBack = fellBack
        seal = Self.seal(key, load)
        uses = permissions.uses
        // A copy that may be served as fresh is always served as fresh.
        self.use = isFresh ? .fresh : use
        self.nanoseconds = nanoseconds
        freshNanoseconds = permissions.freshNanoseconds
        self.revision = revision
        if permissions.hasReasons { setHistory(permissions.statedReasons, []) }
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
        get { Permissions(uses, freshNanoseconds, history?.statedReasons ?? []) }
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
        if !earlier.isEmpty { setHistory(history?.statedReasons ?? [], earlier + (history?.steps ?? [])) }
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
        let details = held == nil ? nil : details
        held =
            statedReasons.isEmpty && steps.isEmpty
            ? details : History(statedReasons: statedReasons, steps: steps, details: details)
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
        guard let details = metadata.details else { return }
        if let history {
            held = History(statedReasons: history.statedReasons, steps: history.steps, details: details)
        } else {
            held = details
        }
    }

    /// The metadata of the entry from which the value was decoded, without the facts that only validators need; nil if
    /// it was not decoded from one.
    var metadata: Metadata? {
        isDecoded ? Metadata(ageStart: Timestamp(nanoseconds: seal), details) : nil
    }

    private var details: Metadata.DetailsBox? { held as? Metadata.DetailsBox ?? history?.details }

    /// The facts that are needed to count a hit. They hold no references.
    package struct Facts {
        /// The age in nanoseconds.
        package let nanoseconds: Int64
        /// Whether the value is fresh.
        package let isFresh: Bool
        /// Whether the value is fresh and no call failed, so that the load is not logged.
        package let isPlain: Bool
        /// Whether the value is a copy of known age, and was not shown because of a failed or slow call.
        package let isHit: Bool
    }

    /// The facts that are needed to count a hit.
    @inline(__always) package var facts: Facts {
        let isFresh = freshness == .fresh
        return Facts(
            nanoseconds: nanoseconds, isFresh: isFresh, isPlain: isFresh && !fellBack,
            isHit: kind == .store && !fellBack && nanoseconds != .min)
    }
}
