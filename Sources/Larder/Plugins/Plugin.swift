/// What a plugin can be.
public enum PluginKind: String, Sendable, CaseIterable {
    /// Where data comes from.
    case origin
    /// Put around an origin.
    case wrapper
    /// Decides in which order things are tried.
    case strategy
    /// Decides what may be kept and shown.
    case validator
    /// Where copies are kept.
    case store
    /// Decides what a full store forgets.
    case eviction

    /// Its name after the right article: `an origin`, `a store`.
    public var withArticle: String {
        (self == .origin || self == .eviction ? "an " : "a ") + rawValue
    }
}

/// A named recipe with declared settings, which the composer turns into one part of a loader graph.
///
/// ```swift
/// Plugin.strategy("network-first", "The origin first; a copy when it fails.",
///     Setting("patience", optional: .duration, help: "How long to wait before showing a copy")
/// ) { sides, patience in NetworkFirst(sides: sides, patience: patience) }
/// ```
///
/// The values of the settings arrive in the order in which they are declared; nothing that is not declared can be read.
public final class Plugin: Sendable {
    /// What it is.
    public let kind: PluginKind
    /// The name after `"use"`.
    public let name: String
    /// What it does, in one line.
    public let about: String
    /// Its settings.
    public let settings: [SettingDeclaration]
    /// What a strategy asks of the two sides; everything, for any other kind.
    public let needs: StrategyNeeds
    /// The names of its settings.
    let names: [String]
    /// Whether only its kind and name are known: see ``assumed(_:_:)``.
    package let isAssumed: Bool
    let prepare: @Sendable (Node, Reading) -> (Recipe, Traits)?

    private init(
        _ kind: PluginKind, _ name: String, _ about: String, _ settings: [SettingDeclaration], _ needs: StrategyNeeds,
        isAssumed: Bool = false, prepare: @escaping @Sendable (Node, Reading) -> (Recipe, Traits)?
    ) {
        self.kind = kind
        self.name = name
        self.about = about
        self.settings = settings
        self.needs = needs
        self.isAssumed = isAssumed
        names = settings.map(\.name)
        self.prepare = prepare
    }
}

/// Which sides a strategy uses. What it does not use has no effect in its policy.
public struct StrategyNeeds: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// The needs with these bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// It asks the origin.
    public static let origin = StrategyNeeds(rawValue: 1)
    /// It reads copies and has answers saved.
    public static let store = StrategyNeeds(rawValue: 2)
}

/// How to make a part, its settings read and found sound.
enum Recipe: Sendable {
    case origin(@Sendable (Context) throws -> any Loader)
    case wrapper(@Sendable (Context, any Loader) throws -> any Loader)
    case strategy(@Sendable (Sides) throws -> any Loader)
    case validator(@Sendable (Context) throws -> any Validator)
    case store(@Sendable (Context) throws -> any Store)
    case eviction(@Sendable () throws -> any Eviction)
}

extension Plugin {
    /// Where data comes from.
    ///
    /// `traits`, here and for the other kinds, tells the lint rules what contradictions to look for.
    ///
    /// The loader's ``Loader/load(_:)`` is called off the caller's actor and may be called many times at once. It gives
    /// an ``Entry``, or ``Loaded/unchanged(_:)`` when the call names a copy that is still current.
    public static func origin<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Loader
    ) -> Plugin {
        build(.origin, name, about, repeat each settings) { (values: repeat each Value) in
            (.origin { context in try make(context, repeat each values) }, traits?(repeat each values) ?? Traits())
        }
    }

    /// A loader around an origin, or around the wrapper that stands after it in the policy.
    public static func wrapper<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, any Loader, repeat each Value) throws -> any Loader
    ) -> Plugin {
        build(.wrapper, name, about, repeat each settings) { (values: repeat each Value) in
            (
                .wrapper { context, inner in try make(context, inner, repeat each values) },
                traits?(repeat each values) ?? Traits()
            )
        }
    }

    /// A recipe that arranges the live and the cached side. A strategy that uses both also takes the setting `rest`: how
    /// long an origin that failed is left alone while a copy may stand in.
    public static func strategy<each Value>(
        _ name: String, _ about: String, needs: StrategyNeeds = [.origin, .store],
        _ settings: repeat Setting<each Value>,
        traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Sides, repeat each Value) throws -> any Loader
    ) -> Plugin {
        guard needs == [.origin, .store] else {
            return build(.strategy, name, about, needs: needs, repeat each settings) { (values: repeat each Value) in
                (.strategy { sides in try make(sides, repeat each values) }, traits?(repeat each values) ?? Traits())
            }
        }
        return build(.strategy, name, about, needs: needs, .rest, repeat each settings) {
            (rest: Duration, values: repeat each Value) in
            let own = traits?(repeat each values) ?? Traits()
            return (.strategy { sides in try make(sides, repeat each values) }, own.with { $0.rest = rest })
        }
    }

    /// A judge of what may be kept and shown.
    public static func validator<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Validator
    ) -> Plugin {
        build(.validator, name, about, repeat each settings) { (values: repeat each Value) in
            (.validator { context in try make(context, repeat each values) }, traits?(repeat each values) ?? Traits())
        }
    }

    /// A place to keep copies. Every store also takes the setting `limit`: how long one of its operations may take.
    public static func store<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Store
    ) -> Plugin {
        let limit = Setting(
            "limit", optional: .duration(.milliseconds(1) ... .forever),
            help: "How long one operation may take before it counts as failed")
        return build(.store, name, about, limit, repeat each settings) {
            (limit: Duration?, values: repeat each Value) in
            let recipe = Recipe.store { context in
                let store = try make(context, repeat each values)
                guard let limit else { return store }
                return LimitedStore(store, limit: limit, name: name, world: context.world)
            }
            let own = traits?(repeat each values) ?? Traits()
            return (recipe, own.with { $0.givesUpAfter = limit ?? $0.givesUpAfter })
        }
    }

    /// A chooser of what a full store forgets.
    public static func eviction<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        make: @escaping @Sendable (repeat each Value) throws -> any Eviction
    ) -> Plugin {
        build(.eviction, name, about, repeat each settings) { (values: repeat each Value) in
            (.eviction { try make(repeat each values) }, Traits())
        }
    }

    /// A plugin of which only the kind and the name are known, such as one of an app whose code is elsewhere: for checking
    /// policies that name it. It accepts any settings, and nothing can be made of it.
    package static func assumed(_ kind: PluginKind, _ name: String) -> Plugin {
        let missing = Registry.Conflict(
            description: "\(kind) '\(name)' is only assumed: its code is not in this program")
        let recipe: Recipe =
            switch kind {
            case .origin: .origin { _ in throw missing }
            case .wrapper: .wrapper { _, _ in throw missing }
            case .strategy: .strategy { _ in throw missing }
            case .validator: .validator { _ in throw missing }
            case .store: .store { _ in throw missing }
            case .eviction: .eviction { throw missing }
            }
        return Plugin(kind, name, "Assumed to be there.", [], [.origin, .store], isAssumed: true) { _, _ in
            (recipe, Traits())
        }
    }

    private static func build<each Value>(
        _ kind: PluginKind, _ name: String, _ about: String, needs: StrategyNeeds = [.origin, .store],
        _ settings: repeat Setting<each Value>,
        recipe: @escaping @Sendable (repeat each Value) -> (Recipe, Traits)
    ) -> Plugin {
        var declarations: [SettingDeclaration] = []
        for setting in repeat each settings { declarations.append(setting.declaration) }
        let owner = "\(kind) '\(name)'"
        return Plugin(kind, name, about, declarations, needs) { node, reading in
            let given = (repeat Given(value: (each settings).read(from: node, owner: owner, reading)))
            do {
                return recipe(repeat try (each given).unwrapped())
            } catch {
                return nil
            }
        }
    }
}

/// A setting's value as it was read; nil after a problem was reported.
struct Given<Value: Sendable> {
    struct Missing: Error {}
    var value: Value?

    func unwrapped() throws -> Value {
        guard let value else { throw Missing() }
        return value
    }
}
