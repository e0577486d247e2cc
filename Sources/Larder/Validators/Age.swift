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
    private let fresh: Duration
    private let whileRevalidating: Duration
    private let onError: Duration
    private let jitter: Double

    init(fresh: Duration, whileRevalidating: Duration = .zero, onError: Duration = .zero, jitter: Double = 0) {
        self.fresh = fresh
        self.whileRevalidating = whileRevalidating
        self.onError = onError
        self.jitter = jitter
    }

    func permit(_ metadata: Metadata, at now: Timestamp) -> Permissions {
        let age = metadata.age(at: now)
        // What is computed in floating point may come out a trifle longer than it went in.
        let limit = jitter == 0 ? fresh : min(fresh, fresh.scaled(by: 1 - jitter * metadata.spread))
        if age >= .zero, age < limit {
            var permissions = Permissions(.all)
            permissions.freshFor = limit
            return permissions
        }
        // An entry from the future has an unknown age: its windows begin now.
        let over = age < .zero ? .zero : age - limit
        var permissions = Permissions(.all).refusing(.fresh, "age.fresh \(fresh.spelled)")
        permissions = Self.judge(permissions, .whileRevalidating, over, "age.whileRevalidating", whileRevalidating)
        return Self.judge(permissions, .onError, over, "age.onError", onError)
    }

    private static func judge(
        _ permissions: Permissions, _ use: Uses, _ over: Duration, _ name: String, _ window: Duration
    ) -> Permissions {
        let reason = window == .zero ? "\(name) none" : "\(name) \(window.spelled)"
        return over < window ? permissions.because(use, reason) : permissions.refusing(use, reason)
    }
}
