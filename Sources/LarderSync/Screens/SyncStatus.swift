public import Larder
public import LarderSystem

/// The state between the records of a resource, or of all resources, and the service.
public struct SyncStatus: Sendable, Hashable {
    /// The number of changes that wait for the service: see ``Records/waiting()``.
    public var pendingCount = 0
    /// The number of changes that are not sent any more, because the service refused them, for example: see
    /// ``Records/rejected()``.
    public var rejectedCount = 0
    /// The time at which the last complete pull began. All that the service had then is known here. Of several resources, the
    /// earliest one; nil if one of them was never pulled, or if none is.
    public var lastSync: Timestamp?
    /// Whether this process is bringing records and the service together now.
    public var isSyncing = false
    /// The time at which the oldest of the waiting changes was made; nil if none waits.
    public var oldestPending: Timestamp?
    /// The reason for which changes wait; nil if none waits. If changes wait for different reasons, the one that tells most: first
    /// those that somebody must act upon. Of many changes, only the oldest are looked at.
    public var waitsFor: WaitReason?
    /// The reason for which the last pull failed; nil if it did not. It is a text for a log, not for a screen. Of several resources,
    /// that of the first one.
    public var pullFailure: String?

    /// Creates the status of records with which nothing was done yet.
    public init() {}
}

extension SyncStatus {
    /// The status of several resources together.
    ///
    /// - Parameter parts: the status of each, and whether its policy has a `pull`.
    init(_ parts: [(status: SyncStatus, isPulled: Bool)]) {
        pendingCount = parts.reduce(0) { $0 + $1.status.pendingCount }
        rejectedCount = parts.reduce(0) { $0 + $1.status.rejectedCount }
        isSyncing = parts.contains { $0.status.isSyncing }
        pullFailure = parts.lazy.compactMap(\.status.pullFailure).first
        oldestPending = parts.compactMap(\.status.oldestPending).min()
        waitsFor = parts.compactMap(\.status.waitsFor).min { $0.rank < $1.rank }
        let pulls = parts.filter(\.isPulled).map(\.status.lastSync)
        lastSync = pulls.contains(nil) ? nil : pulls.compactMap(\.self).min()
    }
}

extension WaitReason {
    /// The place in the order from the reason that tells most to the one that tells least.
    fileprivate var rank: Int {
        switch self {
        case .account: 0
        case .decision: 1
        case .source: 2
        case .push: 3
        case .network: 4
        case .time: 5
        case .lookup: 6
        case .answer: 7
        case .nextRun: 8
        case .record: 9
        case .earlierChange: 10
        }
    }
}

extension RecordsAttachment {
    /// Returns the status of an account.
    func status(of table: RecordTable) async throws -> SyncStatus {
        let planner = planner
        let (facts, letters, waiting) = try await reading { try $0.status(of: table, by: planner) }
        var status = SyncStatus()
        (status.pendingCount, status.rejectedCount) = (facts.books.pending, letters)
        if isComplete(facts.pull) { status.lastSync = facts.pull.completedAt.map { Timestamp(milliseconds: $0) } }
        if isPulled { status.pullFailure = facts.pull.failure }
        status.isSyncing = work?.isRunning ?? false
        status.oldestPending = waiting.first.map { Timestamp(milliseconds: $0.write.made) }
        let prospect = work?.prospect(of: table) ?? .never
        status.waitsFor = waiting.map { WaitReason($0, prospect) }.min { $0.rank < $1.rank }
        return status
    }

    /// Whether the policy says how records are fetched.
    var isPulled: Bool { work?.pullInterval != nil }
}

extension Records {
    /// Returns the state between the records and the service now.
    ///
    /// - Throws: ``RecordError``.
    public func status() async throws -> SyncStatus { try await attachment().status(of: table()) }
}

extension Pantry {
    /// Returns the state between the records of all resources and their services now, for the accounts that are signed in.
    /// Resources that can be read only when somebody signs in are left out.
    ///
    /// - Throws: errors of the disk and the database.
    public func syncStatus() async throws -> SyncStatus {
        var parts: [(status: SyncStatus, isPulled: Bool)] = []
        for name in resources {
            guard let attachment = resource(name).recordsAttachment, let table = try? records(name).table() else {
                continue
            }
            parts.append((try await attachment.status(of: table), attachment.isPulled))
        }
        return SyncStatus(parts)
    }
}
