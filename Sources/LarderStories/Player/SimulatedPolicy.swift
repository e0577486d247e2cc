import LarderFoundation
package import Larder
import LarderSimulation
import LarderSystem

/// A policy as it is played in simulated time, with the times at which its parts act differently.
package struct SimulatedPolicy: Sendable {
    package let policy: Policy
    /// The policy with everything that it extends.
    let text: String
    let files: String?
    let environment: [String: String]
    let registry: Registry
    /// The lifetimes that the origin may state for its answers. Nil is none. Situations have the first one unless they say
    /// otherwise.
    let lifetimes: [Duration?]
    /// The parts of the graph whose code is played: all but simulated stores and origins.
    let parts: [Part]
    /// The simulated stores, the fastest first.
    let tiers: [Part]
    /// A media type that the validators admit.
    package private(set) var contentType = "application/json"
    /// Whether answers that are played are admitted and may be kept.
    private(set) var isAdmitted = true
    /// Whether a part keeps files in the cache folder.
    private(set) var needsFolder = true
    /// The time after which nothing that a load began goes on.
    private(set) var horizon = Duration.zero
    /// The names of the sections with rules for networks that are not played.
    private(set) var unplayedRules: [String] = []
    /// The promises of the policy; nil if it has none.
    package private(set) var promises: Promises?

    /// The resource.
    package var resource: String { policy.resource }

    /// Reads the policy of a resource from a folder.
    ///
    /// - Throws: `PolicyError` with the problems of the policy.
    init(
        of resource: String, in folder: URL, registry: Registry = .standard, environment: [String: String] = [:]
    ) throws {
        let reader = PolicyReader(registry: registry, folder: folder.shortPath, environment: environment)
        let result = reader.check(resource + ".json")
        guard let policy = result.policy else { throw PolicyError(result.problems) }
        try self.init(policy, registry: registry, files: folder.shortPath, environment: environment)
    }

    /// The lifetimes that are assumed unless others are named.
    package static let usualLifetimes: [Duration?] = [nil, .seconds(60), .seconds(86_400)]

    /// - Parameter lifetimes: the lifetimes that the origin may state for its answers, if the policy follows it.
    /// - Throws: `PolicyError` if it cannot be composed.
    package init(
        _ policy: Policy, registry: Registry, files: String?, environment: [String: String],
        lifetimes: [Duration?] = usualLifetimes
    ) throws {
        self.policy = policy
        self.registry = registry
        self.files = files
        self.environment = environment
        text = policy.tree.shown.text()
        let all = Plan(policy).parts
        let isSimulated: (Part) -> Bool = { part in
            (part.plugin.kind == .store || part.plugin.kind == .origin) && !part.plugin.isMadeOfOthers
        }
        tiers = all.filter { $0.plugin.kind == .store && isSimulated($0) && !$0.storeTraits.keepsNothing }
        let played: [PluginKind] = [.origin, .wrapper, .strategy, .validator, .store, .section]
        parts = all.filter { played.contains($0.plugin.kind) && !isSimulated($0) }
        self.lifetimes = parts.contains(where: \.validatorTraits.followsOrigin) ? lifetimes : [nil]
        try tryOut()
    }

    /// The reason why no situations are played; nil if they are. Situations are about strategies and their copies.
    package var unplayed: String? {
        policy.answeringSection.map { "section '\($0.plugin.name)' answers loads, and situations are those of copies" }
    }

    /// Whether the policy's own origin is simulated as a whole: it is elsewhere, and not made of others.
    var isOriginSimple: Bool {
        guard let origin = policy.origin else { return true }
        return !origin.plugin.isMadeOfOthers && !origin.originTraits.isLocal && !origin.originTraits.cannotFail
    }

    /// Composes the policy once, for its promises and for a media type that it admits.
    private mutating func tryOut() throws {
        let types = [
            "application/json", "image/png", "image/jpeg", "text/plain", "text/html", "application/octet-stream",
            "video/mp4", "audio/mpeg", "application/xml", "application/pdf",
        ]
        let found = try StoryPlayer(self).tryOut { [resource] stage, pantry in
            let type = types.first { type in
                let metadata = Metadata(fetchedAt: stage.world.now, etag: "\"1\"", contentType: type)
                return pantry.admitted(Entry(Data("{\"copy\":true}".utf8), metadata), by: resource) != nil
            }
            let usesFolder = try !FileManager.default.contentsOfDirectory(atPath: stage.cache.path).isEmpty
            let rules = pantry.sectionsWithRules(of: resource).filter { Self.hasOtherRules($0.attachment) }.map(\.name)
            return (
                promises: pantry.attachment(Promises.self, of: resource), type: type, usesFolder: usesFolder,
                rules: rules
            )
        }
        promises = found.promises
        unplayedRules = found.rules
        isAdmitted = found.type != nil
        needsFolder = found.usesFolder
        horizon = longestHistory
        contentType = found.type ?? contentType
    }
}

extension SimulatedPolicy {
    /// The ages of a copy at which validators and stores act differently, in order.
    package var ageBorders: [Duration] {
        let shown = parts.filter { $0.plugin.kind == .validator }.compactMap(\.validatorTraits.showsFor)
        return Self.ordered(validatorBorders + shown + refreshBorders + tiers.compactMap(\.storeTraits.keepsFor))
    }

    /// An age that copies exceed only if no part of the policy limits their age, however long a load lasts. It is
    /// longer than the promised ages. So a copy which is older breaks each promise.
    var oldest: Duration {
        let promised = [promises?.neverOlderThan, promises?.freshWithin].compactMap { $0 }.filter { $0 < Self.longest }
        let last = (promised + [ageBorders.last ?? .zero]).max() ?? .zero
        return max(last + .milliseconds(1), min(last + max(Self.spare / 2, horizon), Self.longest - Self.spare / 2))
    }

    /// The age at which the last store forgets a copy; nil if one keeps copies for any time.
    var longestKept: Duration? {
        tiers.map { $0.storeTraits.keepsFor ?? .forever }.max().flatMap { $0 < Self.longest ? $0 : nil }
    }

    /// The ages after which a fresh copy is refreshed.
    private var refreshBorders: [Duration] {
        parts.compactMap(\.strategyTraits.refreshAhead).flatMap { share in
            validatorBorders.map { $0.scaled(by: share) }
        }
    }

    /// The ages at which the validators themselves act differently, in order.
    var validatorBorders: [Duration] {
        Self.ordered(
            parts.filter { $0.plugin.kind == .validator }.flatMap { part -> [Duration] in
                let borders = part.borders ?? Self.commonAges
                guard part.validatorTraits.followsOrigin, let fresh = borders.min() else { return borders }
                return borders
                    + lifetimes.compactMap { $0 }.flatMap { lifetime in borders.map { lifetime + $0 - fresh } }
            })
    }

    /// The times after which wrappers and origins give a call up, in order.
    var callLimits: [Duration] {
        let limits = (parts.filter { $0.plugin.kind == .wrapper } + origins).compactMap(\.givesUpAfter)
        return Self.ordered(limits).filter { $0 > .zero }
    }

    /// The largest number of calls for one load, mirrors included, but at most ``mostCalls``.
    package var mostTries: Int { callCounts.last ?? 1 }

    /// The largest number of calls of a load that can behave differently. Further calls behave as the last of them.
    static let mostCalls = 100

    /// The numbers of calls that each wrapper, the innermost first, and the origin itself make for one call, in order.
    private var callCounts: [Int] { callProducts.map { min($0, Self.mostCalls) } }

    /// Whether a load can make more calls than those that can behave differently.
    var makesMoreCalls: Bool { allCalls > Self.mostCalls }

    /// The largest number of calls for one load, also of those that behave alike.
    var allCalls: Int { callProducts.last ?? 1 }

    /// The largest number of calls that are played if a load can make more than ``mostCalls``. They take some ten seconds.
    private static let mostRepeatedCalls = 500_000

    /// Returns the reason why situations are not played, if wrappers repeat each other's calls too often for that.
    func tooManyCalls(in situations: Int) -> String? {
        guard makesMoreCalls, situations * allCalls > Self.mostRepeatedCalls else { return nil }
        return "wrappers that repeat each other's calls make up to \(allCalls) calls for one load, too many to play"
    }

    private var callProducts: [Int] {
        let wrappers = policy.around.reversed().map { $0.wrapperTraits.tries?.count ?? 1 }
        var (products, product) = ([Int](), 1)
        for count in [policy.origin?.originCount ?? 1] + wrappers where count > 1 {
            product = min(product * min(count, 1_000_000), 1_000_000)
            products.append(product)
        }
        return products
    }

    /// The numbers of failures after which another behaviour of the origin makes most difference: one, all calls of one
    /// try, and as many as leave one call or one try.
    var failureCounts: [Int] {
        let most = mostTries
        let counts = [1, most - 1] + callCounts.dropLast().flatMap { [$0, most - $0] }
        return Set(counts).filter { $0 > 0 && $0 < most }.sorted()
    }

    /// Whether a wrapper counts failures.
    var countsFailures: Bool { parts.contains { $0.wrapperTraits.changesAfterFailures != nil } }

    /// The times for which strategies leave an origin alone after a failure, in order.
    var rests: [Duration] {
        Set(parts.compactMap(\.strategyTraits.rest).map { min($0, Self.longest) }).sorted()
    }

    /// The times since a failure at which a wrapper acts differently.
    static func restBorders(of part: Part) -> [Duration] { (part.borders ?? []).map { min($0, longest) } }

    /// The time for which wrappers wait between their tries.
    var triesWait: Duration {
        parts.compactMap(\.wrapperTraits.tries?.waits).reduce(.zero) { min($0 + min($1, Self.longest), Self.longest) }
    }

    /// The time before which an answer of the origin is in time: nothing gives the call up, or shows a copy instead.
    var timeToAnswer: Duration {
        (callLimits + parts.compactMap(\.strategyTraits.patience)).filter { $0 > .zero }.min() ?? Self.longest
    }

    /// The times of waiting at which the other parts act differently, in order.
    package var waitBorders: [Duration] {
        let told = (parts.filter { $0.plugin.kind != .validator } + tiers + origins).flatMap { part -> [Duration] in
            let known = [
                part.givesUpAfter, part.strategyTraits.patience, part.strategyTraits.rest,
                part.wrapperTraits.tries?.waits,
            ]
            return (part.borders ?? []) + known.compactMap { $0 }
        }
        return Self.ordered(told)
    }

    /// Whether a store keeps copies outside the memory of the process, so that they are there after a restart.
    package var keepsFiles: Bool { tiers.contains(where: \.storeTraits.isForeign) }

    /// Returns the policy with other promises.
    func promising(_ promises: Promises?) -> SimulatedPolicy {
        var copy = self
        copy.promises = promises
        return copy
    }

    /// About the longest time that a call may last. If nothing limits a call, it is longer than any wait.
    var latest: Duration {
        let limit = (callLimits.last ?? originLimit).map { $0 - .milliseconds(1) }
        return limit ?? max((waitBorders.last ?? .zero) + .milliseconds(1), .seconds(60))
    }

    /// The origins that are simulated.
    var origins: [Part] {
        Plan(policy).parts.filter { $0.plugin.kind == .origin && !$0.plugin.isMadeOfOthers }
    }

    /// The time after which every origin gives a call up by itself; nil if one does not.
    var originLimit: Duration? {
        let limits = origins.filter { !$0.originTraits.isLocal && !$0.originTraits.cannotFail }.map(\.givesUpAfter)
        return limits.contains(nil) ? nil : limits.compactMap { $0 }.max()
    }

    /// The largest number of failures in a row that are played.
    static let mostFailures = 20

    /// The time after which nothing that a load began goes on.
    private var longestHistory: Duration {
        let tries = parts.reduce(1) { min($0 * min($1.wrapperTraits.tries?.count ?? 1, 1_000), 1_000_000) }
        let longest = waitBorders.last ?? .zero
        return min((longest + .seconds(3_600)) * (tries + 2), Self.longest)
    }

    /// The ages at which a validator is played that tells no borders.
    private static let commonAges: [Duration] = [
        .seconds(1), .seconds(60), .seconds(600), .seconds(3_600), .seconds(6 * 3_600), .seconds(86_400),
        .seconds(7 * 86_400), .seconds(30 * 86_400), .seconds(365 * 86_400),
    ]

    /// The longest time that is played.
    static let longest = Duration.seconds(3_650 * 86_400)
    /// The time between the last border and a copy that is older than all borders.
    static let spare = Duration.seconds(86_400)

    /// Whole milliseconds, in order.
    private static func ordered(_ borders: [Duration]) -> [Duration] {
        let inside = borders.filter { $0 >= .zero && $0 < longest }
        return Set(inside.map { .milliseconds($0.nanoseconds / 1_000_000) }).sorted()
    }
}

extension [SimulatedPolicy] {
    /// A call that never ends, as far as the origins allow.
    var hanging: Story.OriginAct {
        let limits = map(\.originLimit)
        guard !limits.contains(nil), let longest = limits.compactMap({ $0 }).max() else {
            return Story.OriginAct(.hangs)
        }
        return Story.OriginAct(.unreachable, after: longest)
    }
}

extension Registry {
    /// Returns the registry in which the stores and origins that are not made of others have other code. A store that keeps
    /// nothing stays.
    ///
    /// - Parameters:
    ///   - store: makes a store, from the plugin's name and traits. The closure makes the plugin's own store.
    ///   - origin: makes an origin, from the plugin's traits. The closure makes the plugin's own origin.
    package func simulated(
        store: @escaping @Sendable (String, StoreContext, StoreTraits, () throws -> any Store) throws -> any Store,
        origin: @escaping @Sendable (OriginTraits, () throws -> any Loader) throws -> any Loader
    ) throws -> Registry {
        var changed = self
        for plugin in self[.store] where !plugin.isMadeOfOthers {
            let name = plugin.name
            changed = try changed.replacing(
                plugin.replacingStore { context, traits, own in
                    traits.keepsNothing ? try own() : try store(name, context, traits, own)
                })
        }
        for plugin in self[.origin] where !plugin.isMadeOfOthers {
            changed = try changed.replacing(plugin.replacingOrigin { _, traits, own in try origin(traits, own) })
        }
        return changed
    }
}
