/// Calls of the origin for which no user waits.
public enum BackgroundWork: String, Hashable, Sendable, CaseIterable {
    /// A copy that is shown already is brought up to date.
    case refresh
    /// A value is fetched that may be wanted later: see ``Request/Purpose/prefetch``.
    case prefetch
}
