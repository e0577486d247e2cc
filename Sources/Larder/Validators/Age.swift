extension Plugin {
    /// Windows of time.
    static let age = Plugin.validator(
        "age", "Says how long a copy is fresh, and for how long after that it may still be shown.",
        Setting("fresh", .duration, default: .zero, help: "How long a copy is fresh"),
        Setting(
            "whileRevalidating", .duration, default: .zero,
            help: "How long after that it may be shown while a refresh runs"),
        Setting(
            "onError", .duration, default: .zero, help: "How long after freshness it may be shown when the origin fails"
        ),
        Setting(
            "jitter", .share, default: 0,
            help: "By how much freshness is shortened at random, so that copies saved together expire apart"),
        traits: { fresh, whileRevalidating, onError, _ in
            let stale = max(whileRevalidating, onError)
            return Traits().with {
                $0.showsStaleFor = stale
                $0.showsFor = min(fresh + stale, .forever)
            }
        }
    ) { _, fresh, whileRevalidating, onError, jitter in
        Age(fresh: fresh, whileRevalidating: whileRevalidating, onError: onError, jitter: jitter)
    }
}

/// Windows of time: all half-open, the two later ones side by side from the moment freshness ends.
struct Age: Validator {
    /// A window, with its reason in words, which are made once.
    private struct Window {
        let length: Int64
        let reason: String

        init(_ name: String, _ length: Duration, ifZero none: String = "none") {
            self.length = length.nanoseconds
            reason = "\(name) \(length == .zero ? none : length.spelled)"
        }
    }

    private let fresh: Window
    private let whileRevalidating: Window
    private let onError: Window
    private let jitter: Double

    init(fresh: Duration, whileRevalidating: Duration = .zero, onError: Duration = .zero, jitter: Double = 0) {
        self.fresh = Window("age.fresh", fresh, ifZero: "0s")
        self.whileRevalidating = Window("age.whileRevalidating", whileRevalidating)
        self.onError = Window("age.onError", onError)
        self.jitter = jitter
    }

    func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions {
        let age = metadata.nanoseconds(at: now)
        let limit = limit(of: metadata)
        if age >= 0, age < limit {
            var permissions = Permissions(.all)
            permissions.freshNanoseconds = limit
            return permissions
        }
        // An entry from the future has an unknown age: its windows begin now.
        let over = age < 0 ? 0 : age - limit
        var permissions = Permissions(.all).refusing(.fresh, fresh.reason)
        permissions = Self.judge(permissions, .whileRevalidating, over, whileRevalidating)
        return Self.judge(permissions, .onError, over, onError)
    }

    private func limit(of metadata: Metadata) -> Int64 {
        if jitter == 0 { return fresh.length }
        // What is computed in floating point may come out a trifle longer than it went in.
        let limit = Duration.nanoseconds(fresh.length).scaled(by: 1 - jitter * metadata.spread)
        return min(fresh.length, limit.nanoseconds)
    }

    private static func judge(
        _ permissions: Permissions, _ use: Uses, _ over: Int64, _ window: Window
    ) -> Permissions {
        over < window.length ? permissions.because(use, window.reason) : permissions.refusing(use, window.reason)
    }
}
