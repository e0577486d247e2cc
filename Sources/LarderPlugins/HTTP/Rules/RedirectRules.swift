import LarderSystem
import LarderCore

/// The rules of the redirects that led to an answer.
///
/// The answer is kept under the URL that was asked first. So a copy obeys the redirects, too: the strictest rule counts.
struct RedirectRules: Sendable {
    private struct Redirect {
        let rules: ServerRules
        /// The facts of the redirect, from which its age is counted.
        let metadata: Metadata
    }

    private var redirects: [Redirect] = []

    /// Adds a redirect.
    ///
    /// - Parameter isAuthorized: whether the request had credentials.
    mutating func add(_ answer: HTTPAnswer, askedAt: Timestamp, arrivedAt: Timestamp, isAuthorized: Bool) {
        var metadata = Metadata(
            httpStatus: answer.status, fields: answer.allFields, askedAt: askedAt, arrivedAt: arrivedAt)
        metadata.fetchedAt = arrivedAt
        if isAuthorized { metadata[.isAuthorized] = 1 }
        redirects.append(Redirect(rules: ServerRules(metadata, for: nil), metadata: metadata))
    }

    /// Notes the rules in the metadata of the answer, which is as old as ``Metadata/initialAge`` says at `now`.
    func note(in metadata: inout Metadata, at now: Timestamp) {
        guard !redirects.isEmpty else {
            metadata[.redirectRules] = nil
            return
        }
        let names = redirects.flatMap(\.metadata.variesBy) + metadata.variesBy
        metadata.variesBy = names.contains("*") ? ["*"] : Set(names).sorted()
        metadata[.redirectRules] = ServerRules(
            redirects: flags, limit: limit(metadata.initialAge, now, shared: false),
            sharedLimit: limit(metadata.initialAge, now, shared: true))
    }

    private static let restrictions: ServerRules.Flags = [
        .noStore, .noCache, .mustRevalidate, .proxyRevalidate, .variesByAll,
    ]

    private var flags: ServerRules.Flags {
        redirects.reduce(into: []) { flags, redirect in
            let rules = redirect.rules
            flags.formUnion(rules.flags.intersection(Self.restrictions))
            if rules.reasonForOne != nil { flags.insert(.isRedirectedForOne) }
            // A stale answer with `s-maxage` may not be shown by a shared cache.
            if rules.sharedMaxAge != nil { flags.insert(.proxyRevalidate) }
            if ServerRules.isLasting(redirect.metadata.status ?? 0) { return }
            for isShared in [false, true] where !rules.isExplicit(shared: isShared) {
                flags.insert(.isRedirectedForNow(shared: isShared))
            }
        }
    }

    /// Returns the age of the copy at which the first redirect stops being fresh, in seconds.
    private func limit(_ age: Duration, _ now: Timestamp, shared: Bool) -> Int64? {
        redirects.compactMap { redirect -> Int64? in
            guard let lifetime = redirect.rules.lifetime(shared: shared) else { return nil }
            let left = Duration.seconds(lifetime) - redirect.metadata.age(at: now)
            return max(0, (age + left).nanoseconds / CopyWindow.second)
        }.min()
    }
}
