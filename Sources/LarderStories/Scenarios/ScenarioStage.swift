import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// The pantry of a scenario, with its stores and its origin. It can be opened again, as an app that is started anew does.
final class ScenarioStage: Sendable {
    private struct State {
        var pantry: Pantry?
        /// The stores with faults, the fastest tier first, and whether each is outside the memory of the process.
        var tiers: [(store: FaultyStore, isForeign: Bool)] = []
        var made = 0
        var faults: [Situation.StoreFault] = []
    }

    private let name: String
    private let reader: PolicyReader
    private let cache: URL
    private let world: SimulatedWorld
    private let substitute: OriginSubstitute?
    private let state: Locked<State>

    init(
        _ scenario: Scenario, of resource: String, player: ScenarioPlayer, cache: URL, origin: ScenarioOrigin,
        in world: SimulatedWorld
    ) throws {
        name = resource
        self.cache = cache
        self.world = world
        let state = Locked(State())
        self.state = state
        let isFaulty = scenario.needsFaultyStores
        let registry = try player.registry.simulated(
            store: { name, context, traits, own in
                guard isFaulty, context.resource == resource else { return try own() }
                return Self.next(name, traits: traits, in: context.world, state: state, own: try own())
            },
            origin: { traits, own in traits.isLocal || traits.cannotFail ? try own() : origin })
        let reader = PolicyReader(
            registry: registry, folder: player.policies.shortPath, environment: player.environment
        ).withoutProcess
        self.reader = reader
        // An origin that is made of others plays itself, and each of them follows the script.
        let isMadeOfOthers = reader.check(resource + ".json").policy?.origin?.plugin.isMadeOfOthers == true
        let script: OriginSubstitute = { _ in origin }
        substitute = isMadeOfOthers ? nil : script
    }

    /// The resource of the scenario.
    var resource: Resource<Data> {
        get throws(LoadError) {
            guard let pantry = state.withLock({ $0.pantry }) else { throw LoadError.notCached }
            return pantry.resource(name)
        }
    }

    /// Opens the pantry, or opens it again on what its stores have kept.
    func open() async throws {
        state.withLock { $0.made = 0 }
        let pantry = try await Pantry(
            reader: reader, cache: cache, world: world, substitute: substitute, allowsBackgroundWork: false)
        state.withLock { state in
            state.pantry = pantry
            setFaults(in: state)
        }
    }

    /// Puts the copies into the store.
    ///
    /// - Returns: notes about copies that are not kept.
    func stock(_ copies: [ScenarioCopy]) async throws -> [String] {
        let resource = try resource
        var notes: [String] = []
        for copy in copies {
            let metadata = Metadata(
                fetchedAt: world.now - copy.age, etag: copy.etag, contentType: copy.contentType, spread: copy.spread)
            let entry = Entry(Data(copy.value.text(indented: false).utf8), metadata)
            let request = resource.request(copy.parameters, scope: copy.scope)
            do {
                guard let tier = copy.tier else {
                    if try await !resource.stock(entry, for: request) { notes.append("cached: not kept by the store") }
                    continue
                }
                let tiers = state.withLock { $0.tiers }
                let admitted = state.withLock { $0.pantry }?.admitted(entry, by: name)
                guard let admitted, tiers.indices.contains(tier - 1) else {
                    notes.append(admitted == nil ? "cached: not admitted" : "cached: there is no tier \(tier)")
                    continue
                }
                try await tiers[tier - 1].store.stock(admitted, for: request.key)
            } catch let refusal as Refusal {
                notes.append("cached: refused: \(refusal.reason)")
            } catch let error as StoreError {
                notes.append("cached: not kept: \(error.message)")
            }
        }
        return notes
    }

    /// Sets the faults of the stores.
    func setFaults(_ faults: [ScenarioFault]) {
        state.withLock { state in
            state.faults = faults.ofSituation
            setFaults(in: state)
        }
    }

    private func setFaults(in state: State) {
        for (number, tier) in state.tiers.enumerated() {
            tier.store.set(state.faults, of: number + 1, isForeign: tier.isForeign)
        }
    }

    /// Returns a store that fails when told to, in front of the policy's own.
    private static func next(
        _ name: String, traits: Traits, in world: any World, state: Locked<State>, own: any Store
    ) -> FaultyStore {
        let store = FaultyStore(
            name, isForeign: traits.isForeign, lifetime: nil, keepingIn: own, world: world)
        state.withLock { state in
            if state.made < state.tiers.count {
                state.tiers[state.made] = (store, traits.isForeign)
            } else {
                state.tiers.append((store, traits.isForeign))
            }
            state.made += 1
        }
        return store
    }
}
