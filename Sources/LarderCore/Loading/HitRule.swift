/// The copies that a loader shows without waiting for the origin, and the refreshes that it starts with them.
///
/// ```swift
/// struct ShowsWhatIsFresh: Loader {
///     let sides: Sides
///
///     var hitRule: HitRule? { HitRule(sides, shows: .fresh) }
///
///     func load(_ call: Call) async throws -> Loaded<Entry> { try await sides.load(call) }
/// }
/// ```
///
/// A graph whose loaders all have a rule finds a copy in memory without calling any of them: see ``Loader/hitRule``.
public struct HitRule: Sendable {
    /// The copies that are refreshed in the background when they are shown.
    public struct Refreshes: Sendable {
        /// Whether every copy is refreshed.
        fileprivate var always = false
        /// Whether stale copies are refreshed.
        fileprivate var stale = false
        /// The share of its fresh time after which a fresh copy is refreshed; nil for no such share.
        fileprivate var share: Double?

        /// No copy is refreshed.
        public static let none = Refreshes()
        /// Every copy is refreshed.
        public static let all = Refreshes(always: true)

        /// A fresh copy is refreshed when `share` of its fresh time is over. Nil stands for never.
        public static func fresh(past share: Double?) -> Refreshes { Refreshes(share: share) }

        /// A stale copy is refreshed, and a fresh one when `share` of its fresh time is over. Nil stands for never.
        public static func stale(orFreshPast share: Double?) -> Refreshes { Refreshes(stale: true, share: share) }
    }

    let sides: any HitRuleSides
    let uses: Uses
    private let refreshes: Refreshes
    private let limit: Duration

    init(
        _ sides: any HitRuleSides, shows uses: Uses, refreshing refreshes: Refreshes, within limit: Duration
    ) {
        self.sides = sides
        self.uses = uses
        self.refreshes = refreshes
        self.limit = limit
    }

    /// Whether every copy that is shown is refreshed.
    var refreshesEveryCopy: Bool { refreshes.always }

    /// Starts the refresh of a copy that was shown.
    @inline(never)
    func refresh(_ call: Call) { sides.refresh(call, within: limit) }

    /// Returns whether a copy that is shown must be refreshed.
    @inline(__always)
    func wantsRefresh(of copy: CopyFacts) -> Bool {
        if refreshes.always || refreshes.stale && !copy.isFresh { return true }
        guard let share = refreshes.share else { return false }
        return copy.isAgeing(past: share)
    }
}

/// The sides of a graph, as far as rules need them.
protocol HitRuleSides: Sendable {
    /// Finds the copy.
    var cached: any Loader { get }

    /// Starts a refresh in the background.
    func refresh(_ call: Call, within limit: Duration)
}
