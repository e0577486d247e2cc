import Larder
import LarderSimulation
import LarderSystem

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
            let isHere = copy.tier.map { number == $0 - 1 } ?? true
            let isAbove = copy.tier.map { number < $0 - 1 } ?? false
            guard let age = isHere ? copy.age : isAbove ? copy.ageAbove : nil else { continue }
            // Copies that were fetched at the same time are one.
            guard let entry = entry(age == copy.age ? "copy" : "above", age) else { continue }
            // A store has forgotten what it does not keep so long.
            if tier.keeps(entry) { tier.put(entry, for: key) }
        }
    }

    /// The operations that were asked for. Operations of stores in memory always count as asked for, because such a store
    /// also answers at once, and is another one after a restart.
    var uses: [UsedFacts.StoreUse] {
        zip(tiers, isForeign).enumerated().flatMap { number, store in
            Situation.StoreFault.Operations.allCases.filter { operations in
                !store.1 || operations.ofStore.contains { store.0.count(of: $0) > 0 }
            }.map { UsedFacts.StoreUse(tier: number + 1, isForeign: store.1, operations: $0) }
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
        for fault in faults where fault.concerns(tier: tier, isForeign: isForeign) {
            for operation in fault.operations.ofStore { set(fault.fault, for: operation) }
        }
    }
}

extension Situation.StoreFault {
    /// Whether a tier, counted from 1, has the fault.
    func concerns(tier: Int, isForeign: Bool) -> Bool { self.tier.map { $0 == tier } ?? isForeign }
}

extension Situation.StoreFault.Operations {
    /// The operations of a simulated store.
    fileprivate var ofStore: [FaultyStore.Operation] { self == .reads ? [.read] : [.write, .renew, .expire, .remove] }
}
