import Larder
import LarderSimulation

/// A sound file of scenarios.
package struct ScenarioFile: Sendable {
    package var resource: String
    var about: String?
    var scenarios: [Scenario]
}

/// A scenario: the copies, the origin, the requests, and the expectations.
struct Scenario: Sendable {
    var name: String
    var position: SourcePosition
    var cached: [ScenarioCopy]
    /// Whether the app was restarted, so that copies in memory are gone.
    var isRestarted: Bool
    var origin: [OriginPhase]
    /// The states of the network, each from a moment on.
    var network: [NetworkPhase]
    /// The faults of stores.
    var stores: [ScenarioFault]
    /// The share of the largest number that every random number is; nil for random numbers.
    var chance: Double?
    var asks: [ScenarioRequest]

    /// Whether it is about single tiers or faults of stores.
    var needsFaultyStores: Bool { !stores.isEmpty || cached.contains { $0.tier != nil } }
}

/// A state of the network, from a moment on.
struct NetworkPhase: Sendable {
    var from: Duration
    var reach: NetworkState.Reach
    var isCostly: Bool

    var state: NetworkState {
        Situation().with { ($0.network, $0.isNetworkCostly) = (reach, isCostly) }.networkState
    }
}

/// A fault of the stores, from the beginning.
struct ScenarioFault: Sendable {
    /// The tier, counted from 1, the fastest; nil for every tier outside the memory of the process.
    var tier: Int?
    /// `reads`, `changes`, or nil for both.
    var operations: String?
    var fault: FaultyStore.Fault
}

/// A copy that is in the store when a scenario begins.
struct ScenarioCopy: Sendable {
    var value: JSON
    var age: Duration
    var etag: String?
    var contentType: String
    /// The only tier that it lies in, counted from 1, the fastest; nil for all.
    var tier: Int?
    /// The random number that was drawn when it arrived.
    var spread: Double
    var parameters: Parameters
    var scope: String?
    var position: SourcePosition
}

/// A phase of the origin: its behaviour from a moment on.
struct OriginPhase: Sendable {
    enum OriginBehaviour: Sendable {
        case value(JSON, etag: String?, contentType: String)
        case status(Int, retryAfter: Duration?)
        case offline
        case hangs
    }

    var from: Duration
    /// The number of calls after which the next phase begins; nil if only time ends it.
    var calls: Int?
    var takes: Duration
    var deed: OriginBehaviour
    var position: SourcePosition
}

/// A request and the expectation of its answer.
struct ScenarioRequest: Sendable {
    var at: Duration
    var parameters: Parameters
    var scope: String?
    var mode: Request.Mode
    var deadline: Duration?
    /// Whether the app is started anew right before.
    var isRestarted: Bool
    /// How far the clock is set back right before.
    var clockBack: Duration
    var expectation: Expectation?
    var position: SourcePosition

    func request(_ resource: String) -> Request {
        Request(resource, parameters, scope: scope, mode: mode, deadline: deadline)
    }
}

/// The expectation of an answer. A field that is left out is not checked.
struct Expectation: Sendable {
    enum Age: Sendable {
        case unknown
        /// The range of an age, as exact as it is written: `3h` is at least three hours and less than four.
        case about(Range<Duration>, text: String)
    }

    var value: JSON?
    var freshness: String?
    var source: String?
    var age: Age?
    var fellBack: Bool?
    var error: String?
    var status: Int?
    var takes: Duration?
    var within: Duration?
    var calls: Int?
    /// `yes`, `no` or `either`; nil for a value unless an error is expected. With `either` there may also be no answer.
    var answered: String?
    var noOlderThan: Duration?
    var freshWithin: Duration?
    var callsAtMost: Int?
    /// The text in the file, for the position of each key.
    var node: Node
}
