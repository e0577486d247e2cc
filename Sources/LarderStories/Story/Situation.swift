public import Larder
public import LarderSimulation

/// One load of a resource, and everything around it that can make a difference to its user: the copy, the origin, the
/// stores, the network, the clock, and what happened before.
///
/// ``SituationPlayer`` plays a situation against a policy. A situation that says nothing is the usual one: no copy, an
/// origin that answers at once, and working stores.
public struct Situation: Hashable, Sendable {
    /// A copy that the store keeps when the load begins.
    public struct Copy: Hashable, Sendable {
        /// The time since it was fetched, when the load begins.
        public var age: Duration
        /// The only tier that it lies in, counted from 1, the fastest; nil if it lies in all.
        public var tier: Int?
        /// The age of the copy in the tiers above ``tier``; nil if there is none.
        public var ageAbove: Duration?
        /// The random number that was drawn when it arrived: see `Metadata.spread`.
        public var spread: Double

        /// Makes a copy that lies in all tiers.
        public init(age: Duration, tier: Int? = nil, ageAbove: Duration? = nil, spread: Double = 0) {
            self.age = age
            self.tier = tier
            self.ageAbove = ageAbove
            self.spread = spread
        }
    }

    /// The behaviour of the origin in one call or several.
    public struct OriginAct: Hashable, Sendable {
        /// The end of a call.
        public enum Ending: Hashable, Sendable {
            /// A new value.
            case value
            /// The copy that the call names is still current; a new value if it names none.
            case unchanged
            /// An error with a status, with the time for which the origin asks for no further calls.
            case status(Int, retryAfter: Duration? = nil)
            /// The origin cannot be reached.
            case unreachable
            /// The call never ends.
            case hangs
        }

        /// The end of the call.
        public var ending: Ending
        /// How long the call takes.
        public var after: Duration
        /// The number of calls that it is about, before the next behaviour follows; nil for all.
        public var calls: Int?

        /// Makes a behaviour.
        public init(_ ending: Ending, after: Duration = .zero, calls: Int? = nil) {
            self.ending = ending
            self.after = after
            self.calls = calls
        }
    }

    /// A load that began earlier.
    public struct EarlierLoad: Hashable, Sendable {
        /// How long before the load it began.
        public var before: Duration
        /// Whether it was for another instance of the resource.
        public var isOther: Bool

        /// Makes an earlier load.
        public init(before: Duration, isOther: Bool = false) {
            self.before = before
            self.isOther = isOther
        }
    }

    /// A fault of the stores.
    public struct StoreFault: Hashable, Sendable {
        /// The operations that have the fault.
        public enum Operations: String, Hashable, Sendable, CaseIterable {
            /// Reading entries.
            case reads
            /// Everything but reading.
            case changes
        }

        /// The operations.
        public var operations: Operations
        /// The fault.
        public var fault: FaultyStore.Fault
        /// The tier, counted from 1, the fastest; nil for every tier outside the memory of the process.
        public var tier: Int?

        /// Makes a fault.
        public init(_ operations: Operations, _ fault: FaultyStore.Fault, tier: Int? = nil) {
            self.operations = operations
            self.fault = fault
            self.tier = tier
        }
    }

    /// The copy; nil if there is none.
    public var copy: Copy?
    /// The behaviour of the origin from the load on. The last one holds for all further calls.
    public var origin: [OriginAct] = [OriginAct(.value)]
    /// The loads before, the earliest first.
    public var earlier: [EarlierLoad] = []
    /// The behaviour of the origin before the load.
    public var earlierOrigin: [OriginAct] = []
    /// Whether the device is known to have a network when the load begins.
    public var network = NetworkState.Reach.unknown
    /// Whether the network is a mobile one that costs by use, on which the user asked to save data.
    public var isNetworkCostly = false
    /// The faults of stores, from the beginning.
    public var stores: [StoreFault] = []
    /// Whether the app was started anew right before the load, so that everything in memory is gone.
    public var isRestarted = false
    /// How far the clock was set back right before the load.
    public var clockBack = Duration.zero
    /// The mode of the request.
    public var mode = Request.Mode.normal
    /// The caller's deadline.
    public var deadline: Duration?
    /// How much later than the other facts say the request is made. The copy grows older meanwhile, and earlier loads go
    /// on.
    package var pause = Duration.zero
    /// The share of the largest number that every random number is.
    public var chance = 0.5

    /// Makes the usual situation.
    public init() {}

    /// How long before the load its first predecessor began.
    public var lead: Duration { earlier.map(\.before).max() ?? .zero }

    /// The state of the network when the load begins.
    package var networkState: NetworkState {
        isNetworkCostly
            ? NetworkState(network, kind: .cellular, isExpensive: true, isConstrained: true) : NetworkState(network)
    }

    /// Returns the situation with a change.
    public func with(_ change: (inout Situation) -> Void) -> Situation {
        var copy = self
        change(&copy)
        return copy
    }
}
