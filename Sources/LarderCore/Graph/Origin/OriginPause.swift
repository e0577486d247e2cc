/// The reason not to call the origin at present if a copy can be shown in its place.
enum OriginPause: Sendable {
    /// The origin failed for this key a moment ago.
    case resting(OriginRest)
    /// The device has no network.
    case offline

    var event: Trail.Event {
        switch self {
        case .resting(let rest): rest.event
        case .offline: .offline
        }
    }

    /// Whether the origin was too slow for its callers, and has not failed.
    var isSlow: Bool { if case .resting(let rest) = self { rest.failure.isSlow } else { false } }

    var isOffline: Bool { if case .offline = self { true } else { false } }
}
