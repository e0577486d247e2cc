import LarderBase
import Synchronization

/// Remembers which tiers fail at which operations, so that the log shows the start and the end of a failure and not
/// each one.
///
/// A failure ends when the operation has worked ten times, for at least a minute, without failing in between. Fewer
/// successes prove nothing: a full disk may have room for small entries, and no entry is written while the origin is
/// down.
final class StoreHealth: Sendable {
    private struct Spell {
        let since: Duration
        /// The time of the first success after the last failure.
        var worksSince: Duration?
        /// The number of successes since the last failure.
        var successes = 0
    }

    /// The time and the number of successes after which a failure has ended.
    private static let trial: (length: Duration, successes: Int) = (.seconds(60), 10)

    private let spells = Locked<[Fault: Spell]>([:])
    private let someFail = Atomic(false)

    /// Whether any operation fails. Takes no lock.
    var isFailing: Bool { someFail.load(ordering: .relaxed) }

    /// Notes that some tiers failed.
    ///
    /// - Returns: the faults of the tiers that worked before.
    func failed(_ faults: [StoreFault], _ kind: Fault.Kind, at uptime: Duration) -> [StoreFault] {
        spells.withLock { spells in
            someFail.store(true, ordering: .relaxed)
            return faults.filter { fault in
                let fault = Fault(tier: fault.tier, kind: kind)
                defer { spells[fault] = Spell(since: spells[fault]?.since ?? uptime) }
                return spells[fault] == nil
            }
        }
    }

    /// Notes that some tiers have worked, or all of them if `tiers` is nil.
    ///
    /// - Returns: the faults that have ended, and how long each lasted.
    func worked(_ kind: Fault.Kind, _ tiers: [String]?, at uptime: Duration) -> [(fault: Fault, after: Duration)] {
        spells.withLock { spells in
            var over: [Fault: Spell] = [:]
            for (fault, spell) in spells where fault.kind == kind && tiers?.contains(fault.tier) != false {
                var spell = spell
                let worksSince = spell.worksSince ?? uptime
                spell.worksSince = worksSince
                spell.successes += 1
                spells[fault] = spell
                if uptime - worksSince >= Self.trial.length, spell.successes >= Self.trial.successes {
                    over[fault] = spell
                }
            }
            for fault in over.keys { spells[fault] = nil }
            someFail.store(!spells.isEmpty, ordering: .relaxed)
            return over.sorted { $0.key < $1.key }.map { ($0.key, ($0.value.worksSince ?? uptime) - $0.value.since) }
        }
    }
}
