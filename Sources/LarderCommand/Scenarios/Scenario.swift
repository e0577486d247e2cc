import Larder

/// A file of scenarios, read and found sound.
struct Story: Sendable {
    var resource: String
    var about: String?
    var scenarios: [Scenario]
}

/// What is given, what is asked, and what is expected, from the beginning.
struct Scenario: Sendable {
    var name: String
    var place: Place
    var cached: [CachedCopy]
    /// Whether what only lay in memory is gone.
    var isRestarted: Bool
    var origin: [OriginPhase]
    var asks: [Ask]
}

/// A copy that is kept when a scenario begins.
struct CachedCopy: Sendable {
    var value: JSON
    var age: Duration
    var etag: String?
    var contentType: String
    var parameters: [String: String]
    var scope: String?
    var place: Place
}

/// What the origin does from a moment on.
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
    var place: Place
}

/// One request, and what is expected of its answer.
struct Ask: Sendable {
    var at: Duration
    var parameters: [String: String]
    var scope: String?
    var mode: Request.Mode
    var deadline: Duration?
    var expectation: Expectation?
    var place: Place

    func request(_ resource: String) -> Request {
        Request(resource, parameters, scope: scope, mode: mode, deadline: deadline)
    }
}

/// What is expected of an answer. What it leaves out may be anything.
struct Expectation: Sendable {
    enum Age: Sendable {
        case unknown
        /// As exact as it is written: `3h` is at least three hours and less than four.
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
    /// As it stands in the file: where each key is.
    var node: Node
}
