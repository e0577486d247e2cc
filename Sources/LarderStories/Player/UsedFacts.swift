import Larder
import LarderSimulation

/// The facts of a story that a play of it asked for: the behaviour of the origin, call by call, and the faults of the
/// stores.
///
/// A play depends on nothing else but the other facts. So a story with the same other facts, and with the same
/// behaviour and faults as far as they were asked for, is played the same way. An origin that is not called can do
/// anything. An origin whose call was cancelled after two seconds can do anything after three. A store that is not read
/// can be damaged.
struct UsedFacts: Sendable {
    /// Operations of a store.
    struct StoreUse: Sendable {
        /// The tier, counted from 1.
        let tier: Int
        let isForeign: Bool
        let operations: Story.StoreFault.Operations
    }

    /// The calls of the origin before the load, and from the load on: how long each waited in vain for its end; nil for a
    /// call that got to its end.
    var calls: (earlier: [Duration?], own: [Duration?])
    /// The operations of stores that were asked for.
    var storeUses: [StoreUse]

    /// - Parameter end: the time since zero at which the play ended.
    init(calls: [StoryHistory.Call], until end: Duration, storeUses: [StoreUse]) {
        self.calls = (
            calls.filter(\.isEarlier).map { $0.waited(until: end) },
            calls.filter { !$0.isEarlier }.map { $0.waited(until: end) }
        )
        self.storeUses = storeUses
    }

    /// Whether two stories that have the same other facts agree in the facts that a play of one asked for.
    func agree(_ played: Story, _ other: Story) -> Bool {
        let isSimple = (played.origin + other.origin).allSatisfy { $0.from == .zero }
        guard isSimple || played.origin == other.origin else { return false }
        return played.earlierOrigin.isSame(as: other.earlierOrigin, in: calls.earlier)
            && played.origin.isSame(as: other.origin, in: calls.own)
            && storeUses.allSatisfy { played.stores.fault(of: $0) == other.stores.fault(of: $0) }
    }
}

extension Story {
    /// The story without the facts that ``UsedFacts`` compares.
    var withoutOriginAndFaults: Story { with { ($0.origin, $0.earlierOrigin, $0.stores) = ([], [], []) } }
}

extension [Story.OriginAct] {
    /// The behaviour in a call, counted from 0. The last act holds for all further calls.
    func act(ofCall number: Int) -> Story.OriginAct {
        var rest = number
        for act in dropLast() {
            guard let calls = act.calls, rest >= calls else { return act }
            rest -= calls
        }
        return last ?? Story.OriginAct(.unreachable)
    }

    fileprivate func isSame(as other: [Story.OriginAct], in calls: [Duration?]) -> Bool {
        calls.enumerated().allSatisfy { number, waited in
            let (one, another) = (act(ofCall: number), other.act(ofCall: number))
            if one.ending == another.ending && one.after == another.after { return true }
            // Neither showed what comes after the wait.
            return waited.map { one.time > $0 && another.time > $0 } ?? false
        }
    }
}

extension [Story.StoreFault] {
    /// The fault of some operations; nil if they work. Of several faults, the last one counts.
    fileprivate func fault(of use: UsedFacts.StoreUse) -> FaultyStore.Fault? {
        last { $0.operations == use.operations && $0.concerns(tier: use.tier, isForeign: use.isForeign) }?.fault
    }
}
