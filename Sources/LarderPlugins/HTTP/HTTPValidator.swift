import LarderSystem
import LarderCore

/// The settings of the validator `http`.
private struct HTTPValidatorSettings {
    let fresh = Setting("fresh", optional: .duration, help: "How long a copy is fresh if its server does not say")
        .calledFresh()
    let whileRevalidating = Setting(
        "whileRevalidating", optional: .duration,
        help:
            "How long after the end of freshness a copy may be served while a refresh runs, if its server does not say"
    ).calledWhileRevalidating()
    let onError = Setting(
        "onError", optional: .duration,
        help:
            "How long after the end of freshness a copy may be served when the origin fails, if its server does not say"
    ).calledOnError()
    let trust = Setting(
        "trust", .choice(HTTPValidator.Trust.allCases.map(\.rawValue)),
        default: HTTPValidator.Trust.server.rawValue,
        help: "Whose windows count where both the server and these settings name one")
    let shared = Setting(
        "shared", .flag, default: false,
        help: "Whether the copies are for several users, as in a gateway. Answers for one user are then not kept")
    let heuristic = Setting(
        "heuristic", .share, default: 0,
        help:
            "The share of the time since its last change for which a copy is fresh if its server names no lifetime")
}

extension Plugin {
    /// A validator that follows the rules of HTTP caches.
    static let httpRules = Plugin.validator(
        "http", "Follows the rules of HTTP caches: servers say how long copies are fresh and which may be kept.",
        .group(HTTPValidatorSettings()),
        traits: { settings in
            let fresh = settings.fresh ?? .zero
            let whileRevalidating = settings.whileRevalidating ?? .zero
            let onError = settings.onError ?? .zero
            let stale = max(whileRevalidating, onError)
            return .with {
                if settings.heuristic > 0, settings.fresh != nil, settings.trust == HTTPValidator.Trust.policy.rawValue
                {
                    $0.contradictions = [
                        Contradiction("heuristic", "has no effect: with trust 'policy', 'fresh' decides for every copy")
                    ]
                }
                $0.followsOrigin = true
                $0.showsStaleFor = stale
                $0.showsStaleAtOnceFor = whileRevalidating
                $0.showsFor = min(fresh + stale, .forever)
                // The borders that servers set are not known.
                $0.borders = [.zero, whileRevalidating, onError].map { fresh + $0 }
            }
        }
    ) { _, settings in
        HTTPValidator(
            fresh: settings.fresh, whileRevalidating: settings.whileRevalidating, onError: settings.onError,
            trust: HTTPValidator.Trust(rawValue: settings.trust) ?? .server, isShared: settings.shared,
            heuristic: settings.heuristic)
    }
}

/// A validator that follows the rules of HTTP caches (RFC 9111, RFC 5861 and RFC 8246).
///
/// The rules of a server are read when its answer arrives and are noted with the entry. A hit reads the note only. All
/// windows are half-open. An entry without fields of HTTP, such as that of a file, has the windows of the policy.
struct HTTPValidator: Validator {
    /// The side whose windows count where the server and the policy both name one.
    enum Trust: String, CaseIterable {
        case server, policy
    }

    let fresh: Int64?
    let whileRevalidating: Int64?
    let onError: Int64?
    let trust: Trust
    let isShared: Bool
    let heuristic: Double

    init(
        fresh: Duration? = nil, whileRevalidating: Duration? = nil, onError: Duration? = nil, trust: Trust = .server,
        isShared: Bool = false, heuristic: Double = 0
    ) {
        self.fresh = fresh?.nanoseconds
        self.whileRevalidating = whileRevalidating?.nanoseconds
        self.onError = onError?.nanoseconds
        self.trust = trust
        self.isShared = isShared
        self.heuristic = heuristic
    }

    // MARK: Arrivals

    func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
        if arrival == .fallback { return .keep }
        let isConfirmed = arrival != .store
        if isConfirmed {
            entry.metadata[.serverRules] =
                Self.cameOverHTTP(entry.metadata) ? ServerRules(entry.metadata, for: request) : nil
        } else if entry.metadata[.serverRules] == nil, Self.cameOverHTTP(entry.metadata) {
            entry.metadata[.serverRules] = ServerRules(entry.metadata, for: nil)
        }
        let rules = entry.metadata[.serverRules]
        if isConfirmed { entry.metadata[.freshness] = lifetime(rules).text }
        if let rules, reasonNotToKeep(rules) != nil { return .useOnly }
        // A `no-store` of the request concerns its own answer, not a copy that is kept already.
        if arrival == .origin, RequestRules(request)?.control.flags.contains(.noStore) == true { return .useOnly }
        return .keep
    }

    /// Whether an answer came over HTTP.
    private static func cameOverHTTP(_ metadata: Metadata) -> Bool {
        metadata.status != nil || !metadata.fields.isEmpty
    }

    /// Returns the reason why an answer may not be kept; nil if it may.
    private func reasonNotToKeep(_ rules: ServerRules) -> String? {
        let flags = rules.flags
        if flags.contains(.noStore) { return "http no-store" }
        if flags.contains(.variesByAll) { return "http vary" }
        if isShared, let reason = rules.reasonForOne { return reason }
        let maySay: ServerRules.Flags = isShared ? [.isCacheable, .isPublic] : [.isCacheable, .isPublic, .isPrivate]
        if flags.isDisjoint(with: maySay), !rules.isExplicit(shared: isShared) { return "http status" }
        return nil
    }

    // MARK: Copies

    func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
        let rules = metadata[.serverRules] ?? Self.unnotedRules(metadata)
        if let rules, let reason = reasonNotToKeep(rules) { return Permissions(.all).refusing(.all, reason) }
        let age = metadata.ageInNanoseconds(at: now)
        let lifetime = lifetime(rules)
        let request = RequestRules(request)
        if request == nil, age >= 0, age < lifetime.length {
            var permissions = Permissions(rules?.flags.contains(.immutable) == true ? Self.allButEarly : .all)
            permissions.freshNanoseconds = lifetime.length
            return permissions
        }
        return judge(age, lifetime: lifetime, rules: rules, request: request)
    }

    private static let allButEarly = Uses.all.subtracting(.earlyRefresh)

    /// Returns the rules for an entry that was kept before the policy had this validator; nil if it did not come over
    /// HTTP.
    @inline(never)
    private static func unnotedRules(_ metadata: Metadata) -> ServerRules? {
        cameOverHTTP(metadata) ? ServerRules(metadata, for: nil) : nil
    }

    /// Returns the permissions for a copy that is stale, or for a request that has wishes of its own.
    @inline(never)
    private func judge(
        _ age: Int64, lifetime: CopyWindow, rules: ServerRules?, request: RequestRules?
    ) -> Permissions {
        let control = request?.control
        let acceptedAge = request?.limit(within: lifetime.length) ?? lifetime.length
        var permissions = Permissions(.all)
        permissions.freshNanoseconds = max(0, acceptedAge)
        let isFresh = age >= 0 && age < acceptedAge
        if !isFresh {
            let isWithinLifetime = age >= 0 && age < lifetime.length
            permissions = permissions.refusing(
                .fresh, isWithinLifetime ? CopyWindow(.request("cache-control"), acceptedAge).text : lifetime.text)
        }
        // The age of an entry from the future is unknown: its windows begin now.
        let stale = Staleness(
            sinceLifetime: age < 0 ? 0 : age - lifetime.length,
            sinceAcceptedAge: age < 0
                ? 0 : age.subtractingReportingOverflow(acceptedAge).overflow ? .max : age - acceptedAge)
        if !isFresh {
            // The request does not want a stale copy at once, unless it says so.
            let acceptsStale = control?.maxAge == nil && control?.minFresh == nil
            var window = window(.whileRevalidating, rules: rules, own: whileRevalidating)
            if !acceptsStale { window = CopyWindow(.request("cache-control"), .min, isForbidden: window.isForbidden) }
            permissions = stale.apply(permissions, use: .whileRevalidating, window: window, control: control)
            window = self.window(.onError, rules: rules, own: onError)
            if !window.isForbidden, let seconds = control?.staleIfError {
                window = CopyWindow(.request("stale-if-error"), seconds: seconds)
            }
            permissions = stale.apply(permissions, use: .onError, window: window, control: control)
        }
        if request?.isNoCache == true { permissions = permissions.refusing(.showing, "http request no-cache") }
        if control?.flags.contains(.noStore) == true {
            permissions = permissions.refusing(.revalidation, "http request no-store")
        }
        return permissions
    }

    /// How long ago a copy became stale.
    private struct Staleness {
        /// The time since the copy's own end of freshness, in nanoseconds. It is negative while the copy is fresh.
        let sinceLifetime: Int64
        /// The time since the copy became too old for the request.
        let sinceAcceptedAge: Int64

        func apply(
            _ permissions: Permissions, use: Uses, window: CopyWindow, control: CacheControl?
        ) -> Permissions {
            if !window.isForbidden, let seconds = control?.maxStale, sinceAcceptedAge < seconds * CopyWindow.second {
                return permissions.because(use, CopyWindow(.request("max-stale"), seconds: seconds).text)
            }
            if sinceLifetime < window.length { return permissions.because(use, window.text) }
            // Only a window of the policy can be made longer.
            return window.isOfPolicy
                ? permissions.refusing(use, window.text, neededWindow: sinceLifetime)
                : permissions.refusing(use, window.text)
        }
    }

    // MARK: Windows

    /// Returns how long a copy is fresh.
    private func lifetime(_ rules: ServerRules?) -> CopyWindow {
        let own = fresh.map { CopyWindow(.policy("fresh"), $0) }
        if trust == .policy, let own { return own }
        let silent = own ?? CopyWindow(.policy("fresh"), 0)
        guard let rules else { return silent }
        let stated = lifetime(rules, silent)
        return rules.flags.contains(.isRedirected) ? limit(stated, by: rules, own) : stated
    }

    /// Returns how long the server says that a copy is fresh, or `silent` if it does not say.
    private func lifetime(_ rules: ServerRules, _ silent: CopyWindow) -> CopyWindow {
        if rules.flags.contains(.noCache) { return .forbidden("no-cache") }
        if isShared, let seconds = rules.sharedMaxAge { return CopyWindow(.server("s-maxage"), seconds: seconds) }
        if let seconds = rules.maxAge { return CopyWindow(.server("max-age"), seconds: seconds) }
        if let seconds = rules.expires { return CopyWindow(.server("expires"), seconds: seconds) }
        if heuristic > 0, let seconds = rules.sinceModified, !rules.flags.isDisjoint(with: [.isCacheable, .isPublic]) {
            return CopyWindow(.server("heuristic"), seconds: Int64(Double(seconds) * heuristic))
        }
        return silent
    }

    /// Returns the lifetime of a copy that is kept under a URL which led to another. It ends when the first of
    /// the redirects is no longer fresh.
    ///
    /// - Parameter own: the lifetime of the policy, for a temporary redirect whose server names none.
    @inline(never)
    private func limit(_ lifetime: CopyWindow, by rules: ServerRules, _ own: CopyWindow?) -> CopyWindow {
        var limits: [CopyWindow] = []
        if let seconds = rules.redirectLimit(shared: isShared) {
            limits.append(CopyWindow(.server("redirect"), seconds: seconds))
        }
        if rules.flags.contains(.isRedirectedForNow(shared: isShared)) {
            limits.append(own ?? CopyWindow(.server("redirect"), seconds: 0))
        }
        return limits.reduce(lifetime) { $1.length < $0.length ? $1 : $0 }
    }

    /// Returns how long a stale copy may be shown.
    private func window(_ use: Uses, rules: ServerRules?, own: Int64?) -> CopyWindow {
        let own = own.map { CopyWindow(.policy(use == .onError ? "onError" : "whileRevalidating"), $0) }
        if trust == .policy, let own { return own }
        if let rules {
            let flags = rules.flags
            if flags.contains(.noCache) { return .forbidden("no-cache") }
            if flags.contains(.mustRevalidate) { return .forbidden("must-revalidate") }
            if isShared, flags.contains(.proxyRevalidate) { return .forbidden("proxy-revalidate") }
            if isShared, rules.sharedMaxAge != nil { return .forbidden("s-maxage") }
            if use == .onError, let seconds = rules.onError {
                return CopyWindow(.server("stale-if-error"), seconds: seconds)
            }
            if use == .whileRevalidating, let seconds = rules.whileRevalidating {
                return CopyWindow(.server("stale-while-revalidate"), seconds: seconds)
            }
        }
        return own ?? CopyWindow(.policy(use == .onError ? "onError" : "whileRevalidating"), 0)
    }
}
