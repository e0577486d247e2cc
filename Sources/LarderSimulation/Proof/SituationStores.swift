import Larder
import LarderBase

/// The stores of a situation: each store of the policy that is not made of others is one in memory, with the same name,
/// limit and lifetime, which can fail.
final class SituationStores: Sendable {
    private struct State {
        var tiers: [FaultyStore] = []
        /// The number of tiers that were made since the app was started.
        var made = 0
        var isForeign: [Bool] = []
    }

    private let world: SimulatedWorld
    private let state = Locked(State())

    init(in world: SimulatedWorld) { self.world = world }

    /// The stores, the fastest tier first.
    var tiers: [FaultyStore] { state.withLock { $0.tiers } }

    /// Whether each store is outside the memory of the process.
    var isForeign: [Bool] { state.withLock { $0.isForeign } }

    /// Returns the store that stands for the next one of the policy. A store outside the memory of the process is still
    /// there after a restart.
    func next(_ name: String, _ traits: Traits) -> FaultyStore {
        let new = FaultyStore(
            name, isForeign: traits.isForeign, lifetime: traits.keepsFor, keepingIn: nil, world: world)
        return state.withLock { state in
            defer { state.made += 1 }
            guard state.made < state.tiers.count else {
                state.tiers.append(new)
                state.isForeign.append(traits.isForeign)
                return new
            }
            if !traits.isForeign { state.tiers[state.made] = new }
            return state.tiers[state.made]
        }
    }

    /// Notes that the app is started anew.
    func restart() { state.withLock { $0.made = 0 } }

    /// Puts the copy of a situation where it lies.
    func put(_ copy: Situation.Copy, _ entry: (_ name: String, _ age: Duration) -> Entry?, for key: Key) {
        for (number, tier) in tiers.enumerated() {
            guard let only = copy.tier else {
                if let entry = entry("copy", copy.age) { tier.put(entry, for: key) }
                continue
            }
            if number == only - 1, let entry = entry("copy", copy.age) { tier.put(entry, for: key) }
            if number < only - 1, let age = copy.ageAbove, let entry = entry("above", age) {
                tier.put(entry, for: key)
            }
        }
    }

    /// Sets the faults of a situation.
    func set(_ faults: [Situation.StoreFault]) {
        for (number, tier) in tiers.enumerated() {
            tier.set(faults, of: number + 1, isForeign: isForeign[number])
        }
    }
}

extension FaultyStore {
    /// Sets those faults of a situation that concern this tier, counted from 1.
    package func set(_ faults: [Situation.StoreFault], of tier: Int, isForeign: Bool) {
        for fault in faults where fault.tier.map({ $0 == tier }) ?? isForeign {
            let operations: [Operation] = fault.operations == .reads ? [.read] : [.write, .renew, .expire, .remove]
            for operation in operations { set(fault.fault, for: operation) }
        }
    }
}
