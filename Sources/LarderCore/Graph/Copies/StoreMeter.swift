import Synchronization
import LarderSystem

/// Counts the faults and the reads of a store. Logs the start and the end of a failure.
final class StoreMeter: Sendable {
    private let health = StoreHealth()
    /// The number of reads whose copy was refused.
    private let refused = Atomic(0)
    /// The number of reads that no load made.
    private let ownReads = Atomic(0)
    /// The number of evictions at the last look for evicted prefetches.
    private let evictions = Atomic(0)
    /// The meter of the graph that is in effect.
    private let meter: Locked<Meter>

    init(_ meter: Meter) { self.meter = Locked(meter) }

    /// The meter of the graph that is in effect.
    var present: Meter { meter.withLock { $0 } }

    /// Counts with another meter from now on, because the store outlives the graph it was made for.
    func count(with next: Meter) { meter.withLock { $0 = next } }

    // MARK: Faults

    /// Counts the faults of an error and notes them in the trail.
    ///
    /// - Returns: whether the store keeps the entry in spite of the error.
    func report(_ error: any Error, effect: FaultEffect, trail: Trail.Recorder) -> Bool {
        let failure = error as? StoreError
        let faults = failure?.faults ?? []
        report(faults.isEmpty ? [StoreFault(tier: "store", error: error)] : faults, effect: effect, trail: trail)
        return failure?.isStored ?? false
    }

    /// Counts faults and notes them in the trail. Logs the faults of tiers that worked before.
    func report(_ faults: [StoreFault], effect: FaultEffect, trail: Trail.Recorder) {
        let closed = faults.filter(\.isNotOpen)
        for fault in closed { trail.note("store", .storeNotOpen(fault.tier)) }
        let faults = closed.isEmpty ? faults : faults.filter { !$0.isNotOpen }
        if faults.isEmpty { return }
        report(faults, effect.kind)
        for fault in faults { trail.note("store", .storeFailed(fault, effect: effect.rawValue)) }
    }

    /// Counts faults. Logs those of tiers that worked before.
    func report(_ faults: [StoreFault], _ kind: StoreFaultKey.Kind) {
        let meter = present
        meter.faulted(faults, kind)
        for fault in health.failed(faults, kind, at: meter.world.uptime) {
            meter.send(.storeFault, "cannot \(kind.rawValue): \(fault)")
        }
    }

    /// Notes that an operation worked, in these tiers or in all of them. Logs the tiers that failed before and work
    /// again.
    func works(_ kind: StoreFaultKey.Kind, in tiers: @autoclosure () -> [String]? = nil) {
        if health.isFailing { tellEnds(of: kind, in: tiers()) }
    }

    // Apart, because reads that wait call ``works(_:in:)``: see ``MeasuredLoader``.
    @inline(never)
    private func tellEnds(of kind: StoreFaultKey.Kind, in tiers: [String]?) {
        let meter = present
        for (fault, length) in health.worked(kind, tiers, at: meter.world.uptime) {
            meter.send(.storeFault, "can \(kind.rawValue) again, after \(length.brief): \(fault.tier)")
        }
    }

    // MARK: Reads

    /// Counts a copy that was read and may not be shown.
    func countRefused() { refused.add(1, ordering: .relaxed) }

    /// Counts a copy that was read and that no load asked for.
    func countOwnRead() { ownReads.add(1, ordering: .relaxed) }

    /// Returns whether the store has evicted entries since the last time that this was asked.
    func hasEvicted(_ statistics: StoreStatistics) -> Bool {
        evictions.exchange(statistics.evictions, ordering: .relaxed) != statistics.evictions
    }

    /// Returns the store's counts of reads as loads see them. A read whose copy was refused is a miss.
    func corrected(_ statistics: StoreStatistics) -> StoreStatistics {
        var statistics = statistics
        let refused = refused.load(ordering: .relaxed)
        statistics.hits = max(0, statistics.hits - refused - ownReads.load(ordering: .relaxed))
        statistics.misses += refused
        return statistics
    }
}
