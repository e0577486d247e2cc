/// Everybody who wants to hear what happens in a pantry.
package struct Hearing: Sendable {
    /// Every load.
    package let loads = Listeners<LoadReport>()
    /// What is not plain.
    let decisions = Listeners<Decision>()
    /// What stores in memory forgot.
    let forgotten = Listeners<Forgotten>()
    /// Dumps, when they are written.
    let dumps = Listeners<MetricsDump>()

    package init() {}
}
