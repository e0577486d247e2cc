import Larder

/// The policies of one channel's editions, with the loads under each.
struct EditionPolicies: Sendable {
    /// A revision of the policy of one resource.
    struct Policy: Sendable {
        /// The names of the editions that have this policy: several if they do not change it. Empty if no dump tells them.
        var editions: Set<String> = []
        var loads: Report.Revision
    }

    private struct Key: Hashable, Comparable {
        var resource: String
        var revision: String

        static func < (one: Key, other: Key) -> Bool {
            (one.resource, one.revision) < (other.resource, other.revision)
        }
    }

    private var policies: [Key: Policy] = [:]

    /// The largest number of policies, and of editions with one policy. A dump may contain any.
    private static let mostPolicies = 10_000
    private static let mostEditions = 64

    /// Adds a process: its loads since the start of the report, and the editions of its policies.
    ///
    /// - Parameter unit: the installation, or the process if its installation is not known.
    mutating func add(_ dump: MetricsDump, _ history: DumpHistory, of unit: String) {
        for resource in dump.resources {
            let earlier = history.base?.resources.first { $0.name == resource.name }
            let periods = history.periods(of: resource.name)
            // The sum of old revisions has no name.
            for revision in resource.revisions where !revision.name.isEmpty {
                edit(Key(resource: resource.name, revision: revision.name)) { policy in
                    policy.loads.metrics.merge(resource.metrics(of: revision, since: earlier))
                    policy.loads.sums.add(periods[revision.name] ?? [], unit: unit)
                    for name in (history.supplied[resource.name]?[revision.name] ?? []).sorted()
                    where policy.editions.count < Self.mostEditions {
                        policy.editions.insert(name)
                    }
                }
            }
        }
    }

    private mutating func edit(_ key: Key, _ change: (inout Policy) -> Void) {
        guard policies[key] != nil || policies.count < Self.mostPolicies else { return }
        let loads = Report.Revision(name: key.revision, strategy: "", isCurrent: true, metrics: ResourceMetrics())
        change(&policies[key, default: Policy(loads: loads)])
    }

    /// The names of the editions that have a policy with loads.
    var names: Set<String> {
        policies.values.reduce(into: []) { names, policy in
            if policy.loads.metrics.loads > 0 { names.formUnion(policy.editions) }
        }
    }

    /// Returns the policies with loads whose editions are known, by resource.
    ///
    /// - Parameter rename: returns the name under which an edition is shown.
    func compared(_ rename: (String) -> String) -> [String: [Policy]] {
        policies.sorted { $0.key < $1.key }.reduce(into: [:]) { resources, entry in
            var policy = entry.value
            guard policy.loads.metrics.loads > 0, !policy.editions.isEmpty else { return }
            policy.editions = Set(policy.editions.map(rename))
            resources[entry.key.resource, default: []].append(policy)
        }
    }
}
