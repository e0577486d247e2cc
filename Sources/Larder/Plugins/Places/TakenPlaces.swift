/// The places that one policy's store and its tiers asked for. Those they got are held as long as this object lives, even
/// if a store does not.
final class TakenPlaces: Sendable {
    private struct State {
        var names: Set<PlaceName> = []
        var held: [PlaceName: StorePlace] = [:]
        var due: [Clearing] = []
        var problems: [CacheProblem] = []
        var isSettled = false
    }

    private let state: Locked<State>

    /// - Parameter isSettled: whether a place with a clearing due comes too late, because nobody would carry that out.
    init(isSettled: Bool = false) {
        state = Locked(State(isSettled: isSettled))
    }

    /// All that were asked for, whether or not they could be had.
    var names: Set<PlaceName> { state.withLock { $0.names } }

    /// Those that could be had.
    var held: Set<PlaceName> { state.withLock { Set($0.held.keys) } }

    /// Those that could not be had.
    var missing: Set<PlaceName> { state.withLock { $0.names.subtracting($0.held.keys) } }

    /// The parts that go without their place.
    var problems: [CacheProblem] { state.withLock { $0.problems } }

    func add(_ problem: CacheProblem) { state.withLock { $0.problems.append(problem) } }

    /// Takes a place. Blocks.
    func take(_ name: PlaceName, from places: Places) throws -> StorePlace {
        state.withLock { _ = $0.names.insert(name) }
        let (place, due) = try places.take(name)
        let isLate = state.withLock { state in
            if state.isSettled, !due.isEmpty { return true }
            state.held[name] = place
            for clearing in due where !state.due.contains(where: { $0.id == clearing.id }) {
                state.due.append(clearing)
            }
            return false
        }
        if isLate { throw StoreError("a clearing of its place is not finished") }
        return place
    }

    /// The clearings that must be carried out before the store answers. From now on none may come to them.
    func settle() -> [Clearing] {
        state.withLock { state in
            state.isSettled = true
            return state.due
        }
    }
}

/// Everything that a context needs to hand places out.
struct PlaceSource: Sendable {
    let places: Places
    let taken: TakenPlaces
    let ifUnusable: UnusableCacheAction
    /// Whether the part that is being made asked for a place.
    let isAsked = Locked(false)
}
