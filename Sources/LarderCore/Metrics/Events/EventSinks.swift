import LarderSystem

/// The listeners to the events of a pantry.
package struct EventSinks: Sendable {
    /// Listeners to every load.
    let loads = Listeners<LoadReport>()
    /// Listeners to decisions.
    let decisions = Listeners<Decision>()
    /// Listeners to the entries that stores in memory evict.
    let forgotten = Listeners<EvictedEntry>()
    /// Listeners to the dumps that are written.
    let dumps = Listeners<MetricsDump>()

    /// Keeps repeated decisions out of the log.
    let repeatedDecisions = RepeatedDecisions()

    package init() {}
}
