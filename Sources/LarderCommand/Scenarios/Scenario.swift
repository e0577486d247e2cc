import Larder

/// A sound file of scenarios.
struct Story: Sendable {
    var resource: String
    var about: String?
    var scenarios: [Scenario]
}

/// A scenario: the copies, the origin, the requests, and the expectations.
struct Scenario: Sendable {
    var name: String
    var position: SourcePosition
    var cached: [CachedCopy]
    /// Whether the app was restarted, so that copies in memory are gone.
    var isRestarted: Bool
    var origin: [OriginPhase]
    var asks: [Ask]
}

/// A copy that is in the store when a scenario begins.
struct CachedCopy: Sendable {
    var value: JSON
    var age: Duration
    var etag: String?
    var contentType: String
    var parameters: Parameters
    var scope: String?
    var position: SourcePosition
}

/// A phase of the origin: its behaviour from a moment on.
struct OriginPhase: Sendable {
    enum Deed: Sendable {
        case value(JSON, etag: String?, contentType: String)
        case status(Int)
        case offline
        case hangs
    }

    var from: Duration
    var takes: Duration
    var deed: Deed
    var position: SourcePosition
}

/// A request and the expectation of its answer.
struct Ask: Sendable {
    var at: Duration
    var parameters: Parameters
    var scope: String?
    var mode: Request.Mode
    var deadline: Duration?
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
    /// The text in the file, for the position of each key.
    var node: Node
}
