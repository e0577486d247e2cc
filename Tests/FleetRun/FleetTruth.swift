import Larder

/// The events of a simulated fleet, counted where they happened and not by the meters whose dumps are written.
struct FleetTruth: Sendable {
    /// The loads of one resource.
    struct Resource: Sendable {
        /// The number of loads that were started.
        var requests = 0
        /// The number of calls that the origin got.
        var originCalls = 0
        /// The number of payload bytes that callers got.
        var bytes = 0
        /// The number of ended loads by the revision that answered them and their outcome.
        var outcomes: [String: [Outcome: Int]] = [:]

        mutating func add(_ load: LoadReport, _ outcome: Outcome) {
            outcomes[load.revision, default: [:]][outcome, default: 0] += 1
            bytes += load.bytes
        }

        mutating func add(_ other: Resource) {
            requests += other.requests
            originCalls += other.originCalls
            bytes += other.bytes
            for (revision, counts) in other.outcomes { outcomes[revision, default: [:]].merge(counts) { $0 + $1 } }
        }
    }

    private(set) var resources: [String: Resource] = [:]

    subscript(resource: String) -> Resource {
        get { resources[resource] ?? Resource() }
        set { resources[resource] = newValue }
    }

    mutating func add(_ other: FleetTruth) {
        for (name, resource) in other.resources { self[name].add(resource) }
    }
}

/// The account of a fleet that was written to a folder.
struct FleetAccount: Sendable {
    /// The format of the file with the account. A report passes it over.
    static let format = "larder-fleet/1"

    var seed: UInt64
    var installations = 0
    var dumps = 0
    /// The names of the files whose dumps have wrong clocks.
    var apart: [String] = []
    /// The names of the files that are not dumps.
    var bad: [String] = []
    var truth = FleetTruth()
    /// The revisions of each resource, in the order in which they were rolled out.
    var revisions: [String: [String]] = [:]

    /// The account as JSON.
    var json: JSON {
        [
            "format": .string(Self.format), "seed": .int(Int(clamping: seed)), "installations": .int(installations),
            "processes": .int(dumps), "dumps": .int(dumps), "wrong_clocks": .list(apart.sorted().map { .string($0) }),
            "bad_files": .list(bad.sorted().map { .string($0) }),
            "resources": .list(
                truth.resources.sorted { $0.key < $1.key }.map { name, resource in
                    let known = revisions[name] ?? []
                    let order = known + resource.outcomes.keys.filter { !known.contains($0) }.sorted()
                    return .object(
                        [
                            .init("resource", .string(name)), .init("requests", .int(resource.requests)),
                            .init("origin_calls", .int(resource.originCalls)),
                            .init("bytes_out", .int(resource.bytes)),
                        ] + Self.counts(resource.outcomes.values.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }) + [
                            .init(
                                "revisions",
                                .list(
                                    order.map { revision in
                                        .object(
                                            [.init("revision", .string(revision))]
                                                + Self.counts(resource.outcomes[revision] ?? [:]))
                                    }))
                        ])
                }),
        ]
    }

    /// The number of loads, and of those with each outcome.
    private static func counts(_ outcomes: [Outcome: Int]) -> [JSON.Member] {
        [.init("loads", .int(outcomes.values.reduce(0, +)))]
            + Outcome.allCases.map { .init($0.rawValue, .int(outcomes[$0] ?? 0)) }
    }
}
