import LarderSystem

/// The places that the store of one policy and its tiers requested.
///
/// The places they got are held as long as this object lives, even if a store does not hold them.
final class HeldPlaces: Sendable {
    private struct State {
        var names: Set<PlaceName> = []
        var held: [PlaceName: StorePlace] = [:]
        /// The places that no part of the store may use now. They are held so that no clearing deletes them whole.
        var reserved: [PlaceName: StorePlace] = [:]
        /// The places that the store gets when another store is closed.
        var awaited: Set<PlaceName> = []
        var clearings: [Clearing] = []
        var problems: [CacheProblem] = []
        var isClosed = false
    }

    private let state: Locked<State>

    /// - Parameter isClosed: whether a place with an unfinished clearing is refused, because nothing would finish the
    ///   clearing.
    init(isClosed: Bool = false) {
        state = Locked(State(isClosed: isClosed))
    }

    /// All places that were requested, whether or not they could be handed out.
    var names: Set<PlaceName> { state.withLock { $0.names } }

    /// The places that were handed out.
    var held: Set<PlaceName> { state.withLock { Set($0.held.keys) } }

    /// The places that could not be handed out.
    var missing: Set<PlaceName> { state.withLock { $0.names.subtracting($0.held.keys).subtracting($0.awaited) } }

    /// Whether a part of the store gets its place when another store is closed.
    var isWaiting: Bool { state.withLock { !$0.awaited.isEmpty } }

    /// The problems of the parts that did not get their place.
    var problems: [CacheProblem] { state.withLock { $0.problems } }

    func add(_ problem: CacheProblem) { state.withLock { $0.problems.append(problem) } }

    /// Takes a place. Blocks.
    ///
    /// - Throws: ``StoreError`` if the place has an unfinished clearing and ``close()`` was called before.
    func take(_ name: PlaceName, from places: Places) throws -> StorePlace {
        state.withLock { _ = $0.names.insert(name) }
        let (place, clearings) = try places.take(name)
        let isLate = state.withLock { state in
            if state.isClosed, !clearings.isEmpty { return true }
            state.held[name] = place
            for clearing in clearings where !state.clearings.contains(where: { $0.id == clearing.id }) {
                state.clearings.append(clearing)
            }
            return false
        }
        if isLate { throw StoreError("a clearing of its place is not finished") }
        return place
    }

    /// Notes a place that another store still uses. It is held all the same, so that no clearing deletes it whole. Blocks.
    func wait(for name: PlaceName, in places: Places) {
        let place = try? places.take(name).place
        state.withLock { state in
            state.names.insert(name)
            state.awaited.insert(name)
            state.reserved[name] = place
        }
    }

    /// Adds the places of a part that was opened late.
    func add(_ opened: HeldPlaces, endingProblemOf part: String) {
        let (names, held) = opened.state.withLock { ($0.names, $0.held) }
        state.withLock { state in
            state.names.formUnion(names)
            state.held.merge(held) { _, new in new }
            state.awaited.subtract(held.keys)
            for name in held.keys { state.reserved[name] = nil }
            state.problems.removeAll { $0.part == part }
        }
    }

    /// Notes that the part which got a place late could not be opened.
    func failed(_ name: PlaceName, _ problem: CacheProblem) {
        state.withLock { state in
            state.awaited.remove(name)
            state.problems.removeAll { $0.part == problem.part }
            state.problems.append(problem)
        }
    }

    /// Holds the places of another store in its place. Nothing may use them, and no clearing deletes them whole.
    func reserve(placesOf former: HeldPlaces) {
        let (names, held) = former.state.withLock { ($0.names, $0.held.merging($0.reserved) { held, _ in held }) }
        state.withLock { ($0.names, $0.awaited, $0.reserved) = (names, names, held) }
    }

    /// Returns the clearings that must be carried out before the store answers. From now on no clearing can be added.
    func close() -> [Clearing] {
        state.withLock { state in
            state.isClosed = true
            return state.clearings
        }
    }
}
