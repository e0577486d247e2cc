/// Counts that tell what other settings of a policy would have brought. They hold no keys.
///
/// `larder advise` and reports turn them into advice.
package struct WhatIfCounts: Sendable, Hashable {
    /// Loads that failed although there was a copy, because the copy was too old and for no other reason. They are
    /// counted by the window after the end of freshness in which the copy would have been served.
    package internal(set) var refusedForAge = Histogram(.durations)
    /// Loads that got a copy at the end of their patience, and whose call was answered later: by the time from the
    /// start of the wait to the answer.
    package internal(set) var answeredLate = Histogram(.durations)
    /// Loads that got a copy at the end of their patience, and whose call failed later: by the time from the start of
    /// the wait to the failure.
    package internal(set) var failedLate = Histogram(.durations)
    /// Loads that got a copy at the end of their patience, and whose call was given up later by a timeout or at the end
    /// of the background time. They are counted by the time for which the origin had not answered.
    package internal(set) var givenUpLate = Histogram(.durations)
    /// Loads that got a copy without a wait, because the origin rested after the patience of an earlier load had ended.
    package internal(set) var shownWhileSlow: UInt64 = 0
    /// Calls that found a stale copy unchanged: by the time since the end of its freshness.
    package internal(set) var unchanged = Histogram(.durations)
    /// Calls that found a stale copy changed: by the time since the end of its freshness.
    package internal(set) var changed = Histogram(.durations)
    /// Calls that asked about a still fresh copy: by the time until the end of its freshness.
    package internal(set) var askedWhileFresh = Histogram(.durations)
    /// Background refreshes whose result answered a load while it was fresh. Some refreshes are left out.
    package internal(set) var usedRefreshes: UInt64 = 0
    /// Background refreshes whose result answered no load while it was fresh. Some refreshes are left out.
    package internal(set) var unusedRefreshes: UInt64 = 0
    /// Calls for a key whose copy would still be fresh, but was evicted by a full store: by the capacity that the store
    /// lacked. It is estimated from a sample of the keys.
    package internal(set) var evictedTooSoon = Histogram(.sizes)

    /// Creates empty counts.
    package init() {}

    /// Whether nothing was counted.
    package var isEmpty: Bool {
        // Counts of a new process are compared often, and key paths take long.
        if self == Self.none { return true }
        return Self.distributions.allSatisfy { self[keyPath: $0.path].isEmpty }
            && Self.totals.allSatisfy { self[keyPath: $0.path] == 0 }
    }

    private static let none = WhatIfCounts()

    /// The counts that are divided by limits, with their names in dumps.
    static let distributions: [(name: String, path: any WritableKeyPath<WhatIfCounts, Histogram> & Sendable)] = [
        ("refused_for_age", \.refusedForAge), ("answered_late", \.answeredLate), ("failed_late", \.failedLate),
        ("given_up_late", \.givenUpLate), ("unchanged", \.unchanged), ("changed", \.changed),
        ("asked_while_fresh", \.askedWhileFresh), ("evicted_too_soon", \.evictedTooSoon),
    ]

    /// The other counts, with their names in dumps.
    static let totals: [(name: String, path: any WritableKeyPath<WhatIfCounts, UInt64> & Sendable)] = [
        ("shown_while_slow", \.shownWhileSlow), ("used_refreshes", \.usedRefreshes),
        ("unused_refreshes", \.unusedRefreshes),
    ]

    /// Adds the counts of another process or time.
    package mutating func merge(_ other: WhatIfCounts) {
        for (_, path) in Self.distributions { self[keyPath: path].merge(other[keyPath: path]) }
        for (_, path) in Self.totals { self[keyPath: path] = self[keyPath: path].plus(other[keyPath: path]) }
    }

    /// Returns the counts since `earlier`, which is a former state of these counts.
    func since(_ earlier: WhatIfCounts) -> WhatIfCounts {
        var difference = self
        for (_, path) in Self.distributions {
            difference[keyPath: path] = self[keyPath: path].since(earlier[keyPath: path])
        }
        for (_, path) in Self.totals { difference[keyPath: path] -= min(self[keyPath: path], earlier[keyPath: path]) }
        return difference
    }

    /// The counts as JSON, without those that are zero.
    var json: JSON {
        .joined(
            .each(Self.distributions) { ($0.name, self[keyPath: $0.path].isEmpty ? nil : self[keyPath: $0.path].json) },
            .each(Self.totals) { name, path in
                let count = min(self[keyPath: path], MetricsDump.mostCount)
                return (name, count > 0 ? .int(Int(clamping: count)) : nil)
            })
    }
}
