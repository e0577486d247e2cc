import LarderSystem
import LarderCore

/// The settings of the validator `age`.
private struct AgeSettings {
    let fresh = Setting("fresh", .duration, default: .zero, help: "How long a copy is fresh").advised(.fresh)
        .calledFresh()
    let whileRevalidating = Setting(
        "whileRevalidating", .duration, default: .zero,
        help: "How long after the end of freshness a copy may be served while a refresh runs"
    ).calledWhileRevalidating()
    let onError = Setting(
        "onError", .duration, default: .zero,
        help: "How long after the end of freshness a copy may be served when the origin fails"
    ).calledOnError()
    let jitter = Setting(
        "jitter", .share, default: 0,
        help:
            "The largest share by which freshness is shortened at random, so that copies do not expire all at once"
    )
}

extension Plugin {
    /// A validator of the age of copies.
    static let age = Plugin.validator(
        "age", "Sets how long a copy is fresh, and how long after that it may still be served.",
        .group(AgeSettings()),
        traits: { settings in
            let stale = max(settings.whileRevalidating, settings.onError)
            // Freshness ends between these two ages, and each window begins where it ends.
            let ends = [settings.fresh, settings.fresh.scaled(by: 1 - settings.jitter)]
            return .with {
                $0.showsStaleFor = stale
                $0.showsStaleAtOnceFor = settings.whileRevalidating
                $0.showsFor = min(settings.fresh + stale, .forever)
                $0.borders = ends + ends.flatMap { [$0 + settings.whileRevalidating, $0 + settings.onError] }
            }
        }
    ) { _, settings in
        Age(
            fresh: settings.fresh, whileRevalidating: settings.whileRevalidating, onError: settings.onError,
            jitter: settings.jitter)
    }
}

/// A validator that permits uses by age. All windows are half-open. `whileRevalidating` and `onError` both begin when
/// freshness ends.
struct Age: Validator {
    /// A window with the text of its reason, which is built only once.
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

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        let age = metadata.ageInNanoseconds(at: now)
        let limit = limit(of: metadata)
        if age >= 0, age < limit {
            var permissions = Permissions(.all)
            permissions.freshNanoseconds = limit
            return permissions
        }
        // The age of an entry from the future is unknown: its windows begin now.
        let over = age < 0 ? 0 : age - limit
        var permissions = Permissions(.all).refusing(.fresh, fresh.reason)
        permissions.freshNanoseconds = limit
        permissions = Self.apply(permissions, use: .whileRevalidating, over: over, window: whileRevalidating)
        return Self.apply(permissions, use: .onError, over: over, window: onError)
    }

    /// With `jitter`, each copy has a length of its own.
    var permitRule: PermitRule? { jitter == 0 ? .fresh(for: .nanoseconds(fresh.length)) : nil }

    private func limit(of metadata: Metadata) -> Int64 {
        if jitter == 0 { return fresh.length }
        // Floating-point rounding could make the limit slightly longer than the window.
        let limit = Duration.nanoseconds(fresh.length).scaled(by: 1 - jitter * metadata.spread)
        return min(fresh.length, limit.nanoseconds)
    }

    private static func apply(
        _ permissions: Permissions, use: Uses, over: Int64, window: Window
    ) -> Permissions {
        over < window.length
            ? permissions.because(use, window.reason)
            : permissions.refusing(use, window.reason, neededWindow: over)
    }
}
