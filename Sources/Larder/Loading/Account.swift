/// All that ``Loaded`` tells of its value, whatever the value's type.
///
/// Every loader on the way of a hit hands it on, so it is small and holds one reference, to what plain hits have none of.
/// What a copy was served for is put into words only when somebody asks.
@usableFromInline package struct Account: Sendable {
    private enum Kind: UInt8 { case origin, revalidated, store, fallback }

    /// What made it, in words.
    private final class Story: Sendable {
        let grounds: [Permissions.Ground]
        let steps: [Trail.Step]

        init(grounds: [Permissions.Ground], steps: [Trail.Step]) {
            self.grounds = grounds
            self.steps = steps
        }
    }

    private var kind: Kind
    var freshness: Freshness
    var isStored: Bool
    var fellBack: Bool
    private var uses: Uses
    /// What the copy was served for, if it was.
    private var use: Uses = []
    /// The age; the least number there is where nobody knows it.
    var nanoseconds: Int64
    private var freshNanoseconds: Int64
    /// Of the tier or the fallback.
    private var name: String
    /// The revision of the policy that decided; empty for none.
    private var revision: String
    private var story: Story?
    /// Tells for which load one of the graph's own sides gave this out; 0 for an account that somebody else made.
    private var seal = 0

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
        tell(permissions.grounds, trail.steps)
    }

    /// Of a copy that was found in a tier, and is served for a use of those that are permitted.
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
        // A copy that may be shown as fresh is fresh, whatever it was asked for.
        self.use = isFresh ? .fresh : use
        self.nanoseconds = nanoseconds
        freshNanoseconds = permissions.freshNanoseconds
        self.revision = revision
        if permissions.hasGrounds { tell(permissions.grounds, []) }
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
        get { Permissions(uses, freshNanoseconds, story?.grounds ?? []) }
        set {
            (uses, freshNanoseconds) = (newValue.uses, newValue.freshNanoseconds)
            tell(newValue.grounds, story?.steps ?? [])
        }
    }

    var trail: Trail {
        get {
            let steps = story?.steps ?? []
            return Trail(use.isEmpty ? steps : steps + [serving], revision: revision.isEmpty ? nil : revision)
        }
        set {
            revision = newValue.revision ?? ""
            use = []
            tell(story?.grounds ?? [], newValue.steps)
        }
    }

    /// Marks the account as given out by one of the graph's sides for a load of this key; 0 is the number of those that
    /// are answered at once.
    mutating func seal(for key: Key, load: UInt64) { seal = Self.seal(key, load) }

    /// Whether a side of the graph gave this out for this load, and nobody has changed it since.
    @inline(__always)
    func isSealed(for key: Key, load: UInt64 = 0) -> Bool { seal == Self.seal(key, load) }

    @inline(__always)
    private static func seal(_ key: borrowing Key, _ load: UInt64) -> Int {
        (key.hash ^ Int(truncatingIfNeeded: load &* 0x9E37_79B9_7F4A_7C15)) | 1
    }

    /// The same account of another value, which no side of the graph gave out.
    @usableFromInline var unsealed: Account {
        var copy = self
        copy.seal = 0
        return copy
    }

    /// Signs the account: with the steps that came before its own, and the revision of the policy.
    mutating func sign(after earlier: [Trail.Step], by revision: String) {
        self.revision = revision
        if !earlier.isEmpty { tell(story?.grounds ?? [], earlier + (story?.steps ?? [])) }
    }

    /// The copy stands in for a call, which this step tells of.
    mutating func standIn(after step: Trail.Step) {
        fellBack = true
        tell(story?.grounds ?? [], [step])
    }

    private mutating func tell(_ grounds: [Permissions.Ground], _ steps: [Trail.Step]) {
        story = grounds.isEmpty && steps.isEmpty ? nil : Story(grounds: grounds, steps: steps)
    }

    private var serving: Trail.Step {
        let reasons = permissions.reasons(for: use)
        let label = use == .fresh ? "fresh copy" : "stale copy"
        let age = Duration.nanoseconds(nanoseconds == .min ? 0 : nanoseconds)
        let old = age < .zero ? "from the future" : "\(age.brief) old"
        let why = reasons.isEmpty ? "" : ", allowed by " + reasons.joined(separator: " and ")
        return Trail.Step(source.description, "\(label), \(old)\(why)")
    }

    private static func parts(of source: Source) -> (Kind, String) {
        switch source {
        case .origin: (.origin, "")
        case .revalidated: (.revalidated, "")
        case .store(let tier): (.store, tier)
        case .fallback(let name): (.fallback, name)
        }
    }

    /// What counting a hit needs of it, all of it plain.
    package struct Facts {
        package let nanoseconds: Int64
        package let isFresh: Bool
        package let isPlain: Bool
        /// Whether it is of a copy of a known age that stands in for nothing.
        package let isHit: Bool
    }

    package var facts: Facts {
        let isFresh = freshness == .fresh
        return Facts(
            nanoseconds: nanoseconds, isFresh: isFresh, isPlain: isFresh && !fellBack,
            isHit: kind == .store && !fellBack && nanoseconds != .min)
    }
}
