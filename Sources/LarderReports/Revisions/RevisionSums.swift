import Larder

/// The counts of one revision over time, for groups of installations.
struct RevisionSums: Sendable, Hashable {
    /// The counts of some time: the number of loads, and the sum of each figure.
    struct Counts: Sendable, Hashable {
        /// The figures in their order, and the number of loads at the end.
        private var sums = SIMD8<Double>()

        var loads: Double { sums[7] }

        /// The sum of a figure, which is divided by the number of loads.
        subscript(figure: RevisionFigure) -> Double { sums[figure.place] }

        fileprivate mutating func add(_ period: FiveMinutes) {
            sums[7] += Double(period[.loads])
            for figure in RevisionFigure.allCases { sums[figure.place] += figure.part(of: period) }
        }

        static func += (one: inout Counts, other: Counts) { one.sums += other.sums }

        /// Returns the counts without some that are contained in them.
        static func - (one: Counts, other: Counts) -> Counts {
            var difference = one
            difference.sums -= other.sums
            return difference
        }
    }

    /// The number of groups. Each installation belongs to one of them.
    static let groupCount = 32

    /// The counts by group and by the start of five minutes.
    private(set) var groups = [[Timestamp: Counts]](repeating: [:], count: groupCount)

    /// The counts of all groups in each period, in order.
    var overTime: [Counts] {
        groups.reduce(into: [Timestamp: Counts]()) { sums, group in
            for (start, counts) in group { sums[start, default: Counts()] += counts }
        }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The group of an installation: the same in every report.
    private static func group(of unit: String) -> Int {
        var hash = unit.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        // The last characters have reached only the lower bits.
        hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((hash ^ hash >> 31) % UInt64(groupCount))
    }

    /// Adds the counts of other revisions.
    mutating func add(_ other: RevisionSums) {
        for (group, counts) in other.groups.enumerated() {
            for (start, counts) in counts { groups[group][start, default: Counts()] += counts }
        }
    }

    /// Adds the periods of a process.
    ///
    /// - Parameter unit: the installation, or the process if its installation is not known. Counts of one unit belong to
    ///   one group.
    mutating func add(_ periods: [FiveMinutes], unit: String) {
        let group = Self.group(of: unit)
        for period in periods where period[.loads] > 0 {
            groups[group][period.start, default: Counts()].add(period)
        }
    }
}

/// A figure by which revisions are compared: a sum, divided by the number of loads.
enum RevisionFigure: String, CaseIterable, Sendable {
    case wait
    case failedRate = "failed_rate"
    case staleErrorRate = "stale_error_rate"
    case fallbackRate = "fallback_rate"
    case staleRate = "stale_rate"
    case hitRate = "hit_rate"

    /// The index in ``allCases``.
    fileprivate var place: Int {
        switch self {
        case .wait: 0
        case .failedRate: 1
        case .staleErrorRate: 2
        case .fallbackRate: 3
        case .staleRate: 4
        case .hitRate: 5
        }
    }

    fileprivate func part(of period: FiveMinutes) -> Double {
        switch self {
        case .wait: period.waited?.inSeconds ?? .nan
        // Errors that are answers of the origin, such as a 404, are no fault of the policy.
        case .failedRate: Double(period[.failures] - min(period[.failures], period[.answers]))
        case .staleErrorRate: Double(period[.staleErrors])
        case .fallbackRate: Double(period[.fallbacks])
        case .staleRate: Double(period[.stale])
        case .hitRate: Double(period[.hits])
        }
    }

    /// The name for people.
    var title: String {
        switch self {
        case .wait: "mean wait"
        case .failedRate: "failed"
        case .staleErrorRate: "failed, copy refused"
        case .fallbackRate: "fell back"
        case .staleRate: "stale"
        case .hitRate: "hit"
        }
    }

    /// Whether a larger value is worse for users, in itself.
    var isWorseIfLarger: Bool {
        switch self {
        case .wait, .failedRate, .staleErrorRate, .fallbackRate: true
        case .staleRate, .hitRate: false
        }
    }

    /// The value as a text: `12.5 %` or `340 ms`.
    func text(_ value: Double) -> String {
        self == .wait
            ? Optional(Duration.microseconds(Int64(min(max(0, value), 1e9) * 1e6))).waited : max(0, value).shown
    }

    /// Whether a difference is large enough that an operator wants to know it.
    func isNotable(from old: Double, to new: Double) -> Bool {
        let (smaller, larger) = (min(old, new), max(old, new))
        return self == .wait
            ? larger >= smaller * 1.25 && larger - smaller >= 0.02
            : larger >= smaller * 1.25 && larger - smaller >= 0.01
    }
}
