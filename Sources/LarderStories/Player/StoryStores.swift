import Larder
import LarderSimulation
import LarderSystem

/// The stores of a story. Each store of the policy that is not made of others can fail.
final class StoryStores: Sendable {
    /// The code behind the stores of a policy.
    enum Kind: Sendable {
        /// Stores in memory with the same names, limits and lifetimes, which are fast to play.
        case simulated
        /// The policy's own.
        case own
    }

    private struct State {
        var tiers: [(store: FaultyStore, isForeign: Bool)] = []
        /// The number of tiers that were made since the app was started.
        var made = 0
        var faults: [Story.StoreFault] = []
    }

    private let kind: Kind
    private let world: SimulatedWorld
    private let state = Locked(State())

    init(_ kind: Kind, in world: SimulatedWorld) { (self.kind, self.world) = (kind, world) }

    /// The stores, the fastest tier first, and whether each is outside the memory of the process.
    var tiers: [(store: FaultyStore, isForeign: Bool)] { state.withLock { $0.tiers } }

    /// Returns the store that stands for the next one of the policy. A simulated store outside the memory of the process
    /// is still there after a restart.
    func next(_ name: String, _ traits: StoreTraits, own: () throws -> any Store) rethrows -> FaultyStore {
        let inner = try kind == .own ? own() : nil
        let new = FaultyStore(
            name, isForeign: traits.isForeign, lifetime: kind == .own ? nil : traits.keepsFor, keepingIn: inner,
            world: world)
        return state.withLock { state in
            defer { state.made += 1 }
            let number = state.made
            if number == state.tiers.count {
                state.tiers.append((new, traits.isForeign))
            } else if kind == .own || !traits.isForeign {
                state.tiers[number].store = new
            }
            state.tiers[number].store.set(state.faults, of: number + 1, isForeign: traits.isForeign)
            return state.tiers[number].store
        }
    }

    /// Prepares for another start of the app.
    func restart() { state.withLock { $0.made = 0 } }

    /// Puts a copy where it lies, in simulated stores.
    ///
    /// - Parameter entry: makes the entry of a name and an age; nil if it is not kept.
    func put(_ copy: Story.Copy, for key: Key, making entry: (_ name: String, _ age: Duration) -> Entry?) {
        for (number, tier) in tiers.enumerated() {
            let isHere = copy.tier.map { number == $0 - 1 } ?? true
            let isAbove = copy.tier.map { number < $0 - 1 } ?? false
            guard let age = isHere ? copy.age : isAbove ? copy.ageAbove : nil else { continue }
            // Copies that were fetched at the same time are one.
            guard let entry = entry(age == copy.age ? "copy" : "above", age) else { continue }
            // A store has forgotten what it does not keep so long.
            if tier.store.keeps(entry) { tier.store.put(entry, for: key) }
        }
    }

    /// The operations that were asked for. Operations of stores in memory always count as asked for, because such a store
    /// also answers at once, and is another one after a restart.
    var uses: [UsedFacts.StoreUse] {
        tiers.enumerated().flatMap { number, tier in
            Story.StoreFault.Operations.allCases.filter { operations in
                !tier.isForeign || operations.ofStore.contains { tier.store.count(of: $0) > 0 }
            }.map { UsedFacts.StoreUse(tier: number + 1, isForeign: tier.isForeign, operations: $0) }
        }
    }

    /// Sets the faults, also of stores that are made later.
    func set(_ faults: [Story.StoreFault]) {
        state.withLock { state in
            state.faults = faults
            for (number, tier) in state.tiers.enumerated() {
                tier.store.set(faults, of: number + 1, isForeign: tier.isForeign)
            }
        }
    }
}

extension FaultyStore {
    /// Sets those faults that concern this tier, counted from 1.
    fileprivate func set(_ faults: [Story.StoreFault], of tier: Int, isForeign: Bool) {
        for fault in faults where fault.concerns(tier: tier, isForeign: isForeign) {
            for operation in fault.operations.ofStore { set(fault.fault, for: operation) }
        }
    }
}

extension Story.StoreFault {
    /// Whether a tier, counted from 1, has the fault.
    func concerns(tier: Int, isForeign: Bool) -> Bool { self.tier.map { $0 == tier } ?? isForeign }
}

extension Story.StoreFault.Operations {
    /// The operations of a simulated store.
    fileprivate var ofStore: [FaultyStore.Operation] { self == .reads ? [.read] : [.write, .renew, .expire, .remove] }
}
