/// The purpose of a setting that advice can be about: see ``Setting/advised(_:)``.
///
/// Metrics count what another value of such a setting would have brought. `larder advise` and reports propose a value, for
/// every plugin that declares such a setting.
public enum AdviceTopic: String, Sendable, Hashable, CaseIterable {
    /// A duration: how long a copy is fresh.
    case fresh
    /// A duration: how long after the end of freshness a copy may be served when the origin fails.
    case onError
    /// A duration: how long a load waits for the origin before it gets a copy.
    case patience
    /// A share of the fresh time: after it, a copy that is served is also refreshed in the background.
    case refreshAhead
    /// A size: the number of bytes that a store keeps.
    case capacity
    /// The instances that are prefetched. Advice is about the section that has the setting.
    case prefetch
}
