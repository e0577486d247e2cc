/// A named recipe with declared settings, which the composer turns into one part of a loader graph.
///
/// ```swift
/// Plugin.strategy("network-first", "The origin first; a copy when it fails.",
///     Setting("patience", optional: .duration, help: "How long to wait before showing a copy")
/// ) { sides, patience in NetworkFirst(sides: sides, patience: patience) }
/// ```
///
/// The values of the settings arrive in the order of their declaration; those of more than three are read by name: see
/// ``Setting/group(_:)``. Settings that are not declared cannot be read.
public final class Plugin: Sendable {
    /// The kind of plugin.
    public let kind: PluginKind
    /// The name that policies put after `"use"`.
    public let name: String
    /// The purpose, in one line.
    package let about: String
    /// The declarations of its settings.
    package let settings: [SettingDeclaration]
    /// The metrics that it has in addition to those of every resource.
    package let metrics: PluginMetrics
    /// The counters among ``metrics``.
    package var counters: [Counter] { metrics.counters }
    /// The levels among ``metrics``.
    package var levels: [Level] { metrics.levels }
    /// The sides that a strategy uses; all sides, for any other kind.
    package let needs: StrategyNeeds
    /// Other words for it, in no policy.
    let words: [String]
    /// The names of its settings.
    let names: [String]
    /// The names of the settings whose values may depend on more than their text.
    let unshareableSettings: [String]
    /// Whether only the kind and name are known: see ``assumed(_:_:)``.
    package let isAssumed: Bool
    /// Whether it was declared as a plugin of a module's own kind.
    let isCustom: Bool
    let prepare: @Sendable (Node, PolicyDiagnostics) -> Recipe?

    init(
        _ kind: PluginKind, name: String, about: String, settings: [SettingDeclaration], needs: StrategyNeeds,
        metrics: PluginMetrics = PluginMetrics(), words: [String] = [], isAssumed: Bool = false,
        isCustom: Bool = false, prepare: @escaping @Sendable (Node, PolicyDiagnostics) -> Recipe?
    ) {
        self.kind = kind
        self.name = name
        self.about = about
        self.settings = settings
        self.needs = needs
        self.metrics = metrics
        self.words = words
        self.isAssumed = isAssumed
        self.isCustom = isCustom
        names = settings.map(\.name)
        unshareableSettings = settings.filter { !$0.isShareable }.map(\.name)
        self.prepare = prepare
    }

    /// Returns the plugin with other words for it. A policy that uses one of them is led to the plugin's name.
    public func alsoCalled(_ words: String...) -> Plugin {
        Plugin(
            kind, name: name, about: about, settings: settings, needs: needs, metrics: metrics,
            words: self.words + words, isAssumed: isAssumed, isCustom: isCustom, prepare: prepare)
    }
}

/// The sides that a strategy uses. The parts of a policy that belong to an unused side have no effect.
public struct StrategyNeeds: OptionSet, Sendable {
    /// The raw bits.
    public let rawValue: Int

    /// Makes the needs from raw bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The strategy calls the origin.
    public static let origin = StrategyNeeds(rawValue: 1)
    /// The strategy reads copies and has answers saved.
    public static let store = StrategyNeeds(rawValue: 2)
}

/// The facts about a part and the closure that makes it. The settings are already read and checked.
enum Recipe: Sendable {
    case origin(OriginTraits, @Sendable (OriginContext) throws -> any Loader)
    case wrapper(WrapperTraits, @Sendable (Context, any Loader) throws -> any Loader)
    case strategy(StrategyTraits, @Sendable (Sides) throws -> any Loader)
    case validator(ValidatorTraits, @Sendable (Context) throws -> any Validator)
    case store(StoreTraits, @Sendable (StoreContext) throws -> any Store)
    case eviction(@Sendable () throws -> any Eviction)
    case section(SectionTraits, @Sendable (SectionContext) throws -> any Attachment)
    case custom(CustomTraits, @Sendable (Context) throws -> any Sendable)
}

extension Plugin {
    /// Declares an origin: a source of data.
    ///
    /// `traits`, here and for the other kinds, states facts that the lint rules check. They must depend on the values alone. It
    /// may be called on several threads, and once for parts that are written alike. `counters`, `levels`, `gauges` and
    /// `timings` are added to those of Larder: see ``Counter``, ``Level``, ``Gauge`` and ``Timing``.
    ///
    /// The loader's ``Loader/load(_:)`` is called off the caller's actor, and may be called many times at once. It
    /// returns an ``Entry``, or ``Loaded/unchanged(_:updating:)`` if the call names a copy that is still current.
    public static func origin<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> OriginTraits)? = nil,
        make: @escaping @Sendable (OriginContext, repeat each Value) throws -> any Loader
    ) -> Plugin {
        build(
            .origin, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings, repeat each settings
        ) { (values: repeat each Value) in
            .origin(traits?(repeat each values) ?? OriginTraits()) { context in try make(context, repeat each values) }
        }
    }

    /// Declares a wrapper: a loader around an origin, or around the wrapper that follows it in the policy.
    public static func wrapper<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> WrapperTraits)? = nil,
        make: @escaping @Sendable (Context, any Loader, repeat each Value) throws -> any Loader
    ) -> Plugin {
        build(
            .wrapper, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings, repeat each settings
        ) { (values: repeat each Value) in
            .wrapper(traits?(repeat each values) ?? WrapperTraits()) { context, inner in
                try make(context, inner, repeat each values)
            }
        }
    }

    /// Declares a strategy, which arranges the live and the cached side. A strategy that uses both sides also gets the
    /// settings `rest` and `offline`. `rest` is how long the origin is left alone after a failure while a copy can be
    /// served. `offline` says whether the origin is left alone while the device has no network.
    public static func strategy<each Value>(
        _ name: String, _ about: String, needs: StrategyNeeds = [.origin, .store],
        _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> StrategyTraits)? = nil,
        make: @escaping @Sendable (Sides, repeat each Value) throws -> any Loader
    ) -> Plugin {
        guard needs == [.origin, .store] else {
            return build(
                .strategy, name, about, needs: needs,
                counters: counters, levels: levels, gauges: gauges, timings: timings,
                repeat each settings
            ) { (values: repeat each Value) in
                .strategy(traits?(repeat each values) ?? StrategyTraits()) { sides in
                    try make(sides, repeat each values)
                }
            }
        }
        return build(
            .strategy, name, about, needs: needs,
            counters: counters, levels: levels, gauges: gauges, timings: timings, .rest, .offline, repeat each settings
        ) {
            (rest: Duration, offline: String, values: repeat each Value) in
            var facts = traits?(repeat each values) ?? StrategyTraits()
            (facts.rest, facts.usesNetworkState) = (rest, offline == "cache")
            return .strategy(facts) { sides in try make(sides, repeat each values) }
        }
    }

    /// Declares a validator. It decides which payloads may be kept and which copies may be shown.
    public static func validator<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> ValidatorTraits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Validator
    ) -> Plugin {
        build(
            .validator, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings, repeat each settings
        ) { (values: repeat each Value) in
            .validator(traits?(repeat each values) ?? ValidatorTraits()) { context in
                try make(context, repeat each values)
            }
        }
    }

    /// Declares a store for copies. Every store also gets the setting `limit`: how long one of its operations may take.
    public static func store<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> StoreTraits)? = nil,
        make: @escaping @Sendable (StoreContext, repeat each Value) throws -> any Store
    ) -> Plugin {
        build(
            .store, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings, .limit,
            repeat each settings
        ) {
            (limit: Duration?, values: repeat each Value) in
            var facts = traits?(repeat each values) ?? StoreTraits()
            facts.givesUpAfter = limit
            return .store(facts) { context in
                let store = try make(context, repeat each values)
                guard let limit else { return store }
                return LimitedStore(store, limit: limit, name: name, world: context.world)
            }
        }
    }

    /// Declares an eviction, which chooses the entries that a full store removes.
    public static func eviction<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        make: @escaping @Sendable (repeat each Value) throws -> any Eviction
    ) -> Plugin {
        build(.eviction, name, about, repeat each settings) { (values: repeat each Value) in
            .eviction { try make(repeat each values) }
        }
    }

    /// Returns a plugin of which only the kind and the name are known. It is for checking policies that name a plugin
    /// of an app whose code is elsewhere. It accepts any settings. Making a part of it throws.
    package static func assumed(_ kind: PluginKind, _ name: String) -> Plugin {
        let missing = Registry.Conflict(
            description: "\(kind) '\(name)' is only assumed: its code is not in this program")
        let recipe: Recipe =
            switch kind {
            case .origin: .origin(OriginTraits()) { _ in throw missing }
            case .wrapper: .wrapper(WrapperTraits()) { _, _ in throw missing }
            case .strategy: .strategy(StrategyTraits()) { _ in throw missing }
            case .validator: .validator(ValidatorTraits()) { _ in throw missing }
            case .store: .store(StoreTraits()) { _ in throw missing }
            case .eviction: .eviction { throw missing }
            case .section, .pantrySection: .section(SectionTraits()) { _ in throw missing }
            default: .custom(CustomTraits()) { _ in throw missing }
            }
        let isCustom = !PluginKind.core.contains(kind)
        return Plugin(
            kind, name: name, about: "Assumed to be there.", settings: [], needs: [.origin, .store], isAssumed: true,
            isCustom: isCustom
        ) { _, _ in recipe }
    }

    static func build<each Value>(
        _ kind: PluginKind, _ name: String, _ about: String, needs: StrategyNeeds = [.origin, .store],
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        isCustom: Bool = false, _ settings: repeat Setting<each Value>,
        recipe: @escaping @Sendable (repeat each Value) -> Recipe
    ) -> Plugin {
        var declarations: [SettingDeclaration] = []
        for setting in repeat each settings { declarations += setting.declarations }
        let owner = "\(kind) '\(name)'"
        return Plugin(
            kind, name: name, about: about, settings: declarations, needs: needs,
            metrics: PluginMetrics(counters: counters, levels: levels, gauges: gauges, timings: timings),
            isCustom: isCustom
        ) { node, reading in
            let given = (repeat SettingValue(value: (each settings).read(node, owner, reading)))
            do {
                return recipe(repeat try (each given).unwrapped())
            } catch {
                return nil
            }
        }
    }
}

/// The value of a setting as it was read; nil after a problem was reported.
struct SettingValue<Value: Sendable> {
    struct Missing: Error {}
    var value: Value?

    func unwrapped() throws -> Value {
        guard let value else { throw Missing() }
        return value
    }
}
