import Synchronization

/// Knows which tiers fail at what, so that the log is told when that begins and when it is over, and not each time.
///
/// It is over when it has worked ten times, for at least a minute, and has not failed in between: on a full disk small
/// entries may fit and large ones not, and while the origin is down nothing is written at all.
final class StoreHealth: Sendable {
    private struct Spell {
        let since: Duration
        /// When it worked for the first time after its last failure.
        var worksSince: Duration?
        /// How often it worked since then.
        var successes = 0
    }

    /// How long and how often something must work before it counts as working.
    private static let trial: (length: Duration, successes: Int) = (.seconds(60), 10)

    private let spells = Locked<[Fault: Spell]>([:])
    private let someFail = Atomic(false)

    /// Whether anything fails; costs next to nothing.
    var isFailing: Bool { someFail.load(ordering: .relaxed) }

    /// Some tiers failed.
    ///
    /// - Returns: the failures of those that worked before.
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

    /// Some tiers have worked; all of them, if nothing is said.
    ///
    /// - Returns: what works again, and for how long it did not.
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
