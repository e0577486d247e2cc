public import Larder
public import LarderSimulation

extension Story {
    /// A copy that a store keeps.
    public struct Copy: Hashable, Sendable {
        /// The time since it was fetched, at zero.
        public var age: Duration
        /// The only tier that it lies in, counted from 1, the fastest; nil if it lies in all.
        public var tier: Int?
        /// The age of the copy in the tiers above ``tier``; nil if there is none.
        public var ageAbove: Duration?
        /// The random number that was drawn when it arrived: see `Metadata.spread`.
        public var spread: Double
        /// The payload; nil for one that is made.
        package var value: JSON?
        package var etag: String?
        package var contentType: String?
        package var parameters: Parameters = [:]
        package var scope: String?

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
            /// This value. The copy that the call names is still current if it has the tag.
            case sends(JSON, etag: String?, contentType: String)
            /// An error with a status, with the time for which the origin asks for no further calls.
            case status(Int, retryAfter: Duration? = nil)
            /// The origin cannot be reached.
            case unreachable
            /// The call never ends.
            case hangs
            /// An error that is no `LoadError`, as an app's closure can throw.
            case throwsError(String)
        }

        /// The end of the call.
        public var ending: Ending
        /// How long the call takes.
        public var after: Duration
        /// The number of calls that it is about, before the next behaviour follows; nil for all.
        public var calls: Int?
        /// When it begins, since zero. Of those that begin together, each begins after the ``calls`` of the one before.
        public var from: Duration
        /// Whether a call that hangs goes on for an hour although it is cancelled.
        package var ignoresCancellation = false

        /// Makes a behaviour.
        public init(_ ending: Ending, after: Duration = .zero, calls: Int? = nil, from: Duration = .zero) {
            self.ending = ending
            self.after = after
            self.calls = calls
            self.from = from
        }
    }

    /// A state of the network, from a time on.
    public struct Network: Hashable, Sendable {
        /// When it begins.
        public var from: Duration
        /// Whether the device is known to have a network.
        public var reach: NetworkState.Reach
        /// Whether the network is a mobile one that costs by use, on which the user asked to save data.
        public var isCostly: Bool

        /// Makes a state of the network.
        public init(_ reach: NetworkState.Reach, isCostly: Bool = false, from: Duration = .zero) {
            (self.reach, self.isCostly, self.from) = (reach, isCostly, from)
        }

        var state: NetworkState {
            isCostly
                ? NetworkState(reach, kind: .cellular, isExpensive: true, isConstrained: true) : NetworkState(reach)
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
}

extension Story.OriginAct {
    /// The time after which the call shows its ending.
    var time: Duration { ending == .hangs ? .forever : after }
}

extension Story.OriginAct.Ending {
    /// Whether the origin answers, with a value or with an error that stands.
    var isAnswer: Bool {
        switch self {
        case .value, .unchanged, .sends: true
        case .status(let status, retryAfter: _): LoadError.status(status).isAnswer
        case .unreachable, .hangs, .throwsError: false
        }
    }

    /// Whether the call fails, so that a copy may be shown instead.
    var isFailure: Bool { !isAnswer && self != .hangs }
}

extension Story {
    /// Whether it is a load without network, after one that the origin answered and whose answer was saved.
    var isOfflineHistory: Bool {
        guard stores.isEmpty, earlier.count == 1, earlier.first?.isOther == false else { return false }
        switch earlierOrigin.first {
        case OriginAct(.value) where copy == nil: break
        case OriginAct(.unchanged) where copy != nil: break
        default: return false
        }
        return origin.allSatisfy { act in
            switch act.ending {
            case .unreachable, .hangs, .status(503, retryAfter: nil): true
            case .value, .unchanged, .sends, .status, .throwsError: false
            }
        }
    }

    /// The history of a load without network, if the origin answered some time before it.
    package func answered(before time: Duration) -> Story {
        with { situation in
            if let age = copy?.age { situation.copy?.age = age - lead + time }
            situation.earlier = [Load(before: time)]
        }
    }
}
