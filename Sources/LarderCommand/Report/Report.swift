import Larder

/// What the dumps of any number of processes add up to.
struct Report: Sendable {
    /// One resource.
    struct Section: Sendable {
        var name: String
        /// What was counted under all revisions, in all processes.
        var total = ResourceMetrics()
        /// The revisions of its policy, in the order in which they came.
        var revisions: [Revision] = []
        /// What was counted in each five minutes, in order; none for those in which nothing was.
        var periods: [Period] = []
        var store = StoreStatistics()
        var inFlight = 0
        /// How many processes have their breaker at each level.
        var breakers: [BreakerLevel: Int] = [:]
        /// What stands out, in plain sentences.
        var findings: [String] = []
    }

    /// One revision of a policy.
    struct Revision: Sendable {
        var name: String
        var strategy: String
        var isCurrent: Bool
        var metrics: ResourceMetrics
        /// When something was first and last counted under it, as far as the periods tell.
        var times: ClosedRange<Timestamp>?
    }

    /// A file that is no dump, or none that can be read.
    struct Skipped: Sendable {
        var file: String
        var reason: String
    }

    /// From the first process's beginning, or what was asked for, to the last dump.
    var times: ClosedRange<Timestamp>
    var hosts: [String]
    /// How many processes the dumps are of, and how many dumps there are.
    var processes: Int
    var dumps: Int
    var skipped: [Skipped]
    /// What must be known to read the figures rightly.
    var notes: [String] = []
    var sections: [Section] = []
}
