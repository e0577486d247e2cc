public import LarderSystem

/// Facts that a plugin gives about itself, depending on its settings. The lint rules use them to find contradictions
/// between plugins before anything runs. A fact that is left out is not checked.
public struct Traits: Sendable {
    /// Origin, wrapper or store: the time after which it gives a call up. For a store it is set from the setting `limit`.
    public var givesUpAfter: Duration?
    /// Wrapper: the largest number of tries, and the total time it waits between them.
    public var tries: (count: Int, waits: Duration)?
    /// Wrapper: it may repeat a call that changes something at the origin: see ``Call/isSend``.
    public var repeatsSends = false
    /// Origin: it can change something at the source of the data. If not, ``Resource/send(_:method:invalidating:)``
    /// throws without calling it.
    public var acceptsSends = false
    /// Origin: returns the copies that a change has put out of date, besides those that the app names. It gets the request
    /// that was sent, its method and the facts of the answer. Nil if the app alone names them.
    public var invalidates: (@Sendable (_ change: Request, _ method: String, _ answer: Metadata) -> [Selection])?
    /// Origin, or a part among its settings: returns the account in whose name it signs its calls; nil if nobody is signed
    /// in.
    ///
    /// It is asked whenever a request is made that has no scope, and its answer is then the scope. So the copies of two
    /// accounts never meet. It may be called from any thread, also for a hit in memory, so it must be quick.
    public var account: (@Sendable () -> String?)?
    /// Origin: it answers requests without a scope although it has an ``account``: it calls without credentials then.
    public var allowsAnonymous = false
    /// Origin, or a part among its settings: the fields that it adds to requests that lack them. An answer may vary by
    /// these fields.
    ///
    /// If an answer varies by one of them, its copy is found for the same value only: see ``Metadata/variesBy``. So a policy
    /// with another value does not show the copies of the former one.
    public var addedFields: Fields = [:]
    /// Origin: the parameters without which it refuses a request.
    public var requiredParameters: [String] = []
    /// Origin: the parameters that it takes. A request with another one fails with ``LoadError/Code/invalidRequest``. Nil if
    /// it takes any.
    public var parameters: [String]?
    /// Section: the parameters of the requests that it loads by itself.
    public var requests: [Parameters] = []
    /// The settings of the plugin that contradict each other.
    public var contradictions: [Contradiction] = []
    /// Origin: it cannot fail, so the fallbacks after it are never reached.
    public var cannotFail = false
    /// Origin: it is on this device, so its calls need no timeout.
    public var isLocal = false
    /// Origin: it is called without a network, too, because its service is on this device. Its calls can fail and take long
    /// like those of any other service, which an origin with ``isLocal`` does not.
    public var needsNoNetwork = false
    /// Validator: how long it permits a copy after the copy stopped being fresh.
    public var showsStaleFor: Duration?
    /// Validator: how long it permits a copy at once, before any answer, after the copy stopped being fresh. Nil if that is
    /// ``showsStaleFor``.
    public var showsStaleAtOnceFor: Duration?
    /// Validator: how long it permits a copy after the copy was fetched.
    public var showsFor: Duration?
    /// Validator: how long it permits a copy depends on what the origin says about the copy.
    public var followsOrigin = false
    /// Validator: it notices damaged payloads.
    public var noticesDamage = false
    /// Store: the number of bytes that it may keep.
    public var capacity: Int?
    /// Store: the longest time that it keeps an entry.
    public var keepsFor: Duration?
    /// Store: it keeps nothing.
    public var keepsNothing = false
    /// Store: its entries are kept outside the process's memory.
    public var isForeign = false
    /// Store: the name of the place that it writes to, in the resource's cache folder. No other store may use the same
    /// name.
    public var writesTo: String?
    /// Strategy: how long it waits for the origin before it serves a copy.
    public var patience: Duration?
    /// Strategy: it shows stale copies at once, for as long as the validators give a window for that.
    public var showsStaleAtOnce = false
    /// Strategy: the share of a copy's fresh time after which it refreshes a copy that it serves.
    public var refreshAhead: Double?
    /// Strategy: how long it leaves a key's origin alone after a failure. It is set from the setting `rest`.
    public var rest: Duration?
    /// Strategy: it serves copies while the device has no network. It is set from the setting `offline`.
    var usesNetworkState = false
    /// Section: returns whether some background work may call the origin on a network. Nil if the section does not
    /// concern background work.
    ///
    /// Refreshes wait until all sections of the policy permit them. A load with the purpose `prefetch` fails with
    /// ``LoadError/Code/unavailable`` unless a copy answers it at once. Loads for which a user waits are not concerned. It may
    /// be called from any thread, so it must be quick.
    public var permitsBackground: (@Sendable (BackgroundWork, NetworkState) -> Bool)?
    /// Validator: the ages of a copy at which it acts differently. Every other part: the times of waiting, or since a
    /// failure, at which it acts differently. Empty if there are none; nil if the part does not tell them.
    ///
    /// `larder prove` plays what happens just before, at and just after each of them. A validator that does not tell its
    /// borders is played at common ages, and the verdict says that it is not complete.
    public var borders: [Duration]?
    /// Wrapper: the number of failures in a row after which it treats calls otherwise, such as a breaker that opens. Nil if
    /// it does not count failures.
    public var changesAfterFailures: Int?
    /// Whether the origin is called while the device has no network.
    var worksOffline: Bool { isLocal || needsNoNetwork }
    /// Whether all settings come from the policy and none from the environment.
    var mayBeShown = false

    /// No traits.
    public init() {}

    /// Returns the traits with a change.
    public func with(_ change: (inout Traits) -> Void) -> Traits {
        var copy = self
        change(&copy)
        return copy
    }
}
