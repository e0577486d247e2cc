/// Facts that a plugin states about a part, depending on its settings. Each kind of plugin has a type of its own, such as
/// ``StoreTraits``.
///
/// ```swift
/// traits: { after in .with { ($0.givesUpAfter, $0.borders) = (after, [after]) } }
/// ```
///
/// The lint rules use them to find contradictions between plugins before anything runs. A fact that is left out is not
/// checked.
public protocol Traits: Sendable, CustomReflectable {
    /// The settings of the plugin that contradict each other.
    var contradictions: [Contradiction] { get set }
    /// The ages of a copy at which a validator acts differently. For every other kind: the times of waiting, or since a
    /// failure, at which the part acts differently. Empty if there are none; nil if the part does not tell them.
    ///
    /// `larder prove` plays what happens just before, at and just after each of them. A validator that does not tell its
    /// borders is played at common ages, and the verdict says that it is not complete.
    var borders: [Duration]? { get set }

    /// States no facts.
    init()
}

extension Traits {
    /// Returns traits with the facts that `change` states.
    public static func with(_ change: (inout Self) -> Void) -> Self {
        var traits = Self()
        change(&traits)
        return traits
    }

    /// A mirror without children: the facts may come from the environment, so they are not shown.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The facts about an origin.
public struct OriginTraits: Traits {
    /// The time after which it gives a call up.
    public var givesUpAfter: Duration?
    /// Whether it can change something at the source of the data. If not, ``Resource/send(_:method:invalidating:)`` throws
    /// without calling it.
    public var acceptsSends = false
    /// Returns the copies that a change has put out of date, besides those that the app names. It gets the request that was
    /// sent, its method and the facts of the answer. Nil if the app alone names them.
    public var invalidates: (@Sendable (_ change: Request, _ method: String, _ answer: Metadata) -> [Selection])?
    /// Returns the account in whose name it signs its calls; nil if nobody is signed in.
    ///
    /// It is asked whenever a request is made that has no scope, and its answer is then the scope. So the copies of two
    /// accounts never meet. It may be called from any thread, also for a hit in memory, so it must be quick.
    public var account: (@Sendable () -> String?)?
    /// Whether it answers requests without a scope although it has an ``account``: it calls without credentials then.
    public var allowsAnonymous = false
    /// The fields that it adds to requests that lack them. An answer may vary by these fields.
    ///
    /// If an answer varies by one of them, its copy is found for the same value only: see ``Metadata/variesBy``. So a policy
    /// with another value does not show the copies of the former one.
    public var addedFields: Fields = [:]
    /// The parameters without which it refuses a request.
    public var requiredParameters: [String] = []
    /// The parameters that it takes. A request with another one fails with ``LoadError/Code/invalidRequest``. Nil if it takes
    /// any.
    public var parameters: [String]?
    /// Whether it cannot fail, so that the fallbacks after it are never reached.
    public var cannotFail = false
    /// Whether it is on this device, so that its calls need no timeout.
    public var isLocal = false
    /// Whether it is called without a network, too, because its service is on this device. Its calls can fail and take long
    /// like those of any other service, which an origin with ``isLocal`` does not.
    public var needsNoNetwork = false
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}

    /// Whether the origin is called while the device has no network.
    var worksOffline: Bool { isLocal || needsNoNetwork }
}

/// The facts about a wrapper.
public struct WrapperTraits: Traits {
    /// The time after which it gives a call up.
    public var givesUpAfter: Duration?
    /// The largest number of tries, and the total time it waits between them.
    public var tries: (count: Int, waits: Duration)?
    /// Whether it may repeat a call that changes something at the origin: see ``Call/isSend``.
    public var repeatsSends = false
    /// The number of failures in a row after which it treats calls otherwise, such as a breaker that opens. Nil if it does
    /// not count failures.
    public var changesAfterFailures: Int?
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}
}

/// The facts about a strategy.
public struct StrategyTraits: Traits {
    /// How long it waits for the origin before it serves a copy.
    public var patience: Duration?
    /// Whether it shows stale copies at once, for as long as the validators give a window for that.
    public var showsStaleAtOnce = false
    /// The share of a copy's fresh time after which it refreshes a copy that it serves.
    public var refreshAhead: Double?
    /// How long it leaves a key's origin alone after a failure. It is set from the setting `rest`.
    package internal(set) var rest: Duration?
    /// Whether it serves copies while the device has no network. It is set from the setting `offline`.
    var usesNetworkState = false
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}
}

/// The facts about a validator.
public struct ValidatorTraits: Traits {
    /// How long it permits a copy after the copy stopped being fresh.
    public var showsStaleFor: Duration?
    /// How long it permits a copy at once, before any answer, after the copy stopped being fresh. Nil if that is
    /// ``showsStaleFor``.
    public var showsStaleAtOnceFor: Duration?
    /// How long it permits a copy after the copy was fetched.
    public var showsFor: Duration?
    /// Whether the time for which it permits a copy depends on what the origin says about the copy. The first of its
    /// ``Traits/borders`` is then the end of freshness of a copy about which the origin says nothing: proofs move all of
    /// them when they play an origin that states a lifetime.
    public var followsOrigin = false
    /// Whether it notices damaged payloads.
    public var noticesDamage = false
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The ages of a copy at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}
}

/// The facts about a store.
public struct StoreTraits: Traits {
    /// The time after which it gives an operation up. It is set from the setting `limit`.
    package internal(set) var givesUpAfter: Duration?
    /// The number of bytes that it may keep.
    public var capacity: Int?
    /// The longest time that it keeps an entry.
    public var keepsFor: Duration?
    /// Whether it keeps nothing.
    public var keepsNothing = false
    /// Whether its entries are kept outside the process's memory.
    public var isForeign = false
    /// The name of the place that it writes to, in the resource's cache folder. No other store may use the same name.
    public var writesTo: String?
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}
}

/// The facts about a section.
public struct SectionTraits: Traits {
    /// The parameters of the requests that it loads by itself.
    public var requests: [Parameters] = []
    /// Whether its attachment puts a loader of its own around loads: see ``Attachment/around(_:)``.
    public var goesAround = false
    /// Whether its attachment answers the loads of the resource: see ``AnsweringAttachment``. The policy then has neither
    /// `strategy` nor `validators`, `store` and `fallbacks`. State it whatever the settings are, because the schema for
    /// editors must know it without them.
    public var answersLoads = false
    /// The settings that have an effect only together with another section, each with the name of that section. A policy that
    /// sets one of them without the section is an error.
    public var settingsNeedingSection: [String: String] = [:]
    /// The settings that have no effect together with another section, each with the name of that section. A policy that sets
    /// one of them beside the section is an error.
    public var settingsExcludedBySection: [String: String] = [:]
    /// Whether its attachment limits the work for which no user waits: see ``Attachment/permits(_:on:)``.
    public var limitsBackgroundWork = false
    /// The settings that are possible together, but by which something can be lost or done twice. Each is a warning.
    public var risks: [Contradiction] = []
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// States no facts.
    public init() {}
}

/// The facts about a plugin of a module's own kind.
public struct CustomTraits: Traits {
    /// Facts of which only the module knows the type, for the checks of its own sections; nil if there are none.
    public var facts: (any Sendable)?
    /// Returns the account in whose name it signs the calls of its origin: see ``OriginTraits/account``.
    public var account: (@Sendable () -> String?)?
    /// The fields that it adds to the requests of its origin: see ``OriginTraits/addedFields``.
    public var addedFields: Fields = [:]
    /// The origin that the policy must have, because the part calls it in a section; nil if it calls none.
    public var neededOrigin: NeededOrigin?
    /// The names of the parameters of its calls of that origin, a list for each kind of call. A policy whose origin refuses
    /// such a call is an error.
    public var calls: [[String]] = []
    /// The settings that contradict each other.
    public var contradictions: [Contradiction] = []
    /// The times at which it acts differently: see ``Traits/borders``.
    public var borders: [Duration]?

    /// The kinds of origins that a part may need.
    public enum NeededOrigin: Sendable, Hashable {
        /// Any origin.
        case any
        /// One that accepts changes: see ``OriginTraits/acceptsSends``.
        case acceptingSends
    }

    /// States no facts.
    public init() {}
}
