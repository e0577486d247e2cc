import LarderCore

/// A length of time for which a copy may be used, and what decided it.
struct CopyWindow {
    /// The source of the length of a window.
    enum Decider {
        /// A setting of the policy.
        case policy(StaticString)
        /// A directive or field of the server.
        case server(StaticString)
        /// A directive or field of the request.
        case request(StaticString)
    }

    /// The number of nanoseconds in a second.
    static let second: Int64 = 1_000_000_000

    let decider: Decider
    /// The length in nanoseconds.
    let length: Int64
    /// Whether the server forbids the use, so that not even the request can allow it.
    let isForbidden: Bool

    init(_ decider: Decider, _ length: Int64, isForbidden: Bool = false) {
        self.decider = decider
        self.length = length
        self.isForbidden = isForbidden
    }

    init(_ decider: Decider, seconds: Int64) {
        self.init(decider, seconds * Self.second)
    }

    /// A window of no length, because a directive of the server forbids the use.
    static func forbidden(_ directive: StaticString) -> CopyWindow {
        CopyWindow(.server(directive), 0, isForbidden: true)
    }

    /// Whether a setting of the policy decided the length.
    var isOfPolicy: Bool { if case .policy = decider { true } else { false } }

    /// The source of the length: `http max-age 60`, `http no-cache`, `http.onError 7d`, `http.onError none`, `http request max-stale`.
    var text: String {
        switch decider {
        case .policy(let setting): "http.\(setting) \(length == 0 ? "none" : Duration.nanoseconds(length).spelled)"
        case .server(let directive):
            isForbidden ? "http \(directive)" : "http \(directive) \(length / Self.second)"
        case .request(let directive): "http request \(directive)"
        }
    }
}
