import LarderSystem

/// The facts about a copy that is shown. They hold no references.
package struct CopyFacts: Sendable {
    /// Whether there is such a copy.
    var isFound = false
    /// The time from which the age counts, in nanoseconds.
    var ageStart: Int64 = 0
    /// The age in nanoseconds.
    var age: Int64 = .min
    /// The size of the payload, in bytes.
    var size = 0
    /// The length of time for which the copy is fresh, in nanoseconds; negative if no validator set it.
    var freshNanoseconds: Int64 = -1
    /// The permitted uses.
    var uses: Uses = []
    /// The use for which the copy is shown.
    var use: Uses = []

    /// Whether the copy is fresh.
    @inline(__always) var isFresh: Bool { uses.contains(.fresh) }

    /// Returns whether `share` of the fresh time is over, and a refresh may start early.
    func isAgeing(past share: Double) -> Bool {
        guard uses.contains(.earlyRefresh), freshNanoseconds >= 0, age != .min else { return false }
        return .nanoseconds(age) >= Duration.nanoseconds(freshNanoseconds).scaled(by: share)
    }
}

extension Loaded<Entry> {
    /// The facts about the copy that is shown.
    @inline(__always) package var copyFacts: CopyFacts {
        var facts = provenance.copyFacts
        facts.isFound = true
        facts.ageStart = content.metadata.ageStart.nanoseconds
        facts.size = content.payload.size
        return facts
    }
}
