import LarderSystem
import Synchronization

/// Remembers which tiers fail at which operations. So the log shows the start and the end of a failure, not each failed
/// operation.
///
/// A failure ends when the operation has worked for a minute without failing in between. Each time between two
/// successes counts for at most six seconds, so at least eleven successes are needed. Fewer prove nothing: a full disk may
/// have room for small entries, and no entry is written while the origin is down.
final class StoreHealth: Sendable {
    private struct Spell {
        let since: Duration
        /// The times of the first and the newest success after the last failure.
        var successes: (first: Duration, newest: Duration)?
        /// The time for which the operation has worked.
        var worked: Duration = .zero
    }

    /// The time after which a failure has ended, and how much of it the time between two successes may be.
    private static let trial: (length: Duration, step: Duration) = (.seconds(60), .seconds(6))

    private let spells = Locked<[StoreFaultKey: Spell]>([:])
    private let someFail = Atomic(false)

    /// Whether any operation fails. Takes no lock.
    var isFailing: Bool { someFail.load(ordering: .relaxed) }

    /// Notes that some tiers failed.
    ///
    /// - Returns: the faults of the tiers that worked before.
    func failed(_ faults: [StoreFault], _ kind: StoreFaultKey.Kind, at uptime: Duration) -> [StoreFault] {
        spells.withLock { spells in
            someFail.store(true, ordering: .relaxed)
            return faults.filter { fault in
                let fault = StoreFaultKey(tier: fault.tier, kind: kind)
                defer { spells[fault] = Spell(since: spells[fault]?.since ?? uptime) }
                return spells[fault] == nil
            }
        }
    }

    /// Notes that some tiers have worked, or all of them if `tiers` is nil.
    ///
    /// - Returns: the faults that have ended, and how long each lasted.
    func worked(_ kind: StoreFaultKey.Kind, _ tiers: [String]?, at uptime: Duration) -> [(
        fault: StoreFaultKey, after: Duration
    )] {
        spells.withLock { spells in
            var over: [StoreFaultKey: Spell] = [:]
            for (fault, spell) in spells where fault.kind == kind && tiers?.contains(fault.tier) != false {
                var spell = spell
                let successes = spell.successes ?? (first: uptime, newest: uptime)
                // Another thread may have noted a later success already.
                let newest = max(successes.newest, uptime)
                spell.worked += min(newest - successes.newest, Self.trial.step)
                spell.successes = (successes.first, newest)
                spells[fault] = spell
                if spell.worked >= Self.trial.length { over[fault] = spell }
            }
            for fault in over.keys { spells[fault] = nil }
            someFail.store(!spells.isEmpty, ordering: .relaxed)
            return over.sorted { $0.key < $1.key }.map {
                ($0.key, ($0.value.successes?.first ?? uptime) - $0.value.since)
            }
        }
    }
}
