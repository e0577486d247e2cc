public import Larder

/// One played situation: the copies that are kept, the loads, and everything around them that can make a difference to
/// users: the origin, the stores, the network and the clock.
///
/// ``StoryPlayer`` plays a story against a policy. Times count from zero: the first of ``loads`` is made then or later,
/// and those of ``earlier`` before. Proofs and comparisons of policies make stories with one load, ``load``, and scenario
/// files are read as stories with one or more.
///
/// A story that says nothing is the usual one: no copy, an origin that answers at once, and working stores.
public struct Story: Hashable, Sendable {
    /// A load that is made.
    public struct Load: Hashable, Sendable {
        /// When it is made.
        public var at: Duration
        /// The instance that is wanted.
        public var parameters: Parameters
        /// The account for which it is wanted.
        public var scope: String?
        /// The mode of the request.
        public var mode = Request.Mode.normal
        /// The caller's deadline.
        public var deadline: Duration?
        /// Whether the app is started anew right before, so that everything in memory is gone.
        public var isRestarted = false
        /// How far the clock is set back right before.
        public var clockBack = Duration.zero
        /// The time between ``at`` and the request. The rest of what happens at ``at`` happens first.
        package var pause = Duration.zero
        /// How long after the request its caller is cancelled; nil if it is not.
        public var cancelledAfter: Duration?
        /// Whether the caller decodes the payload, which has to be a JSON object. Such a load shares no call with others.
        package var decodes = false

        /// Makes a usual load.
        public init(at time: Duration = .zero, parameters: Parameters = [:], scope: String? = nil) {
            (at, self.parameters, self.scope) = (time, parameters, scope)
        }

        /// Makes a load that begins before zero.
        ///
        /// - Parameters:
        ///   - time: how long before zero.
        ///   - isOther: whether it is for another instance: the one with the parameter `other`.
        public init(before time: Duration, isOther: Bool = false) {
            self.init(at: .zero - time, parameters: isOther ? ["other": "1"] : [:])
        }

        /// How long before zero it is made.
        public var before: Duration {
            get { .zero - at }
            set { at = .zero - newValue }
        }
        /// Whether it has parameters, and so is for another instance than a load without any.
        public var isOther: Bool { !parameters.isEmpty }

        /// Returns the request.
        package func request(_ resource: String) -> Request {
            Request(resource, parameters, scope: scope, mode: mode, deadline: deadline)
        }
    }

    /// The copies, in their stores from the beginning.
    public var copies: [Copy] = []
    /// Whether the app is started anew after the copies are in the stores.
    public var isRestarted = false
    /// The behaviour of the origin from zero on. The last one holds for all further calls. Without any, and before the
    /// first, the origin cannot be reached.
    public var origin: [OriginAct] = [OriginAct(.value)]
    /// The lifetime that the origin states for each answer and each copy, as the field `Cache-Control: max-age` of HTTP.
    /// Nil if it states none.
    public var lifetime: Duration?
    /// The loads before zero, the earliest first.
    public var earlier: [Load] = []
    /// The behaviour of the origin before zero. The first one begins with the first call.
    public var earlierOrigin: [OriginAct] = []
    /// The states of the network, in the order of their beginnings. Before the first, nothing is known of it.
    public var networks: [Network] = []
    /// The faults of stores, after the copies are in them.
    public var stores: [StoreFault] = []
    /// A share from 0 to 1: every random number is this share of the largest one. Nil for random numbers.
    public var chance: Double? = 0.5
    /// The times at which the app clears all copies.
    public var clearings: [Duration] = []
    /// The seed of a random order of tasks that could run at the same time; nil for the order in which they became able to.
    package var order: UInt64?
    /// The loads that are judged, in the order of their times.
    public var loads = [Load()]

    /// Makes the usual story.
    public init() {}

    /// How long before zero the story begins.
    public var lead: Duration { max(earlier.map(\.before).max() ?? .zero, .zero) }

    /// Returns the story with a change.
    public func with(_ change: (inout Story) -> Void) -> Story {
        var copy = self
        change(&copy)
        return copy
    }
}

/// Stories of one load and at most one copy, as proofs and comparisons make them.
extension Story {
    /// The first load.
    public var load: Load {
        get { loads.first ?? Load() }
        set { loads = [newValue] + loads.dropFirst() }
    }

    /// The first copy; nil if there is none.
    public var copy: Copy? {
        get { copies.first }
        set { copies = (newValue.map { [$0] } ?? []) + copies.dropFirst() }
    }

    /// The first known state of the network; `unknown` without any.
    public var network: NetworkState.Reach {
        get { networks.first?.reach ?? .unknown }
        set {
            let first = newValue == .unknown ? [] : [Network(newValue, isCostly: isNetworkCostly)]
            networks = first + networks.dropFirst()
        }
    }

    /// Whether that network, `online` if nothing else is known, is a mobile one that costs by use, on which the user asked to save data.
    public var isNetworkCostly: Bool {
        get { networks.first?.isCostly ?? false }
        set {
            if networks.isEmpty { networks = [Network(.online)] }
            networks[0].isCostly = newValue
        }
    }
}
