/// Chooses by a request's mode: the strategy answers normal requests, and one side answers the others. Rejects a value
/// that a strategy did not get from one of its sides.
package struct ModeSwitch: Loader {
    let strategy: any Loader
    let sides: Sides

    package init(_ strategy: any Loader, sides: Sides) {
        self.strategy = strategy
        self.sides = sides
    }

    /// The rule of the strategy. Without one, copies are shown at once only while the origin is not called, and for
    /// cached-only requests.
    package var hitRule: HitRule? { strategy.hitRule ?? HitRule(sides, shows: []) }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        guard call.request.mode == .normal else { return try await loadPastStrategy(call) }
        return try approved(try await strategy.load(call), for: call)
    }

    @inline(never)
    private func loadPastStrategy(_ call: Call) async throws -> Loaded<Entry> {
        if call.request.mode == .cachedOnly { return try await sides.cached.load(call) }
        return try await sides.load(call)
    }

    @inline(never)
    private func approved(_ loaded: Loaded<Entry>, for call: Call) throws -> Loaded<Entry> {
        if loaded.provenance.isSealed(for: call.key, load: call.load) { return loaded }
        throw LoadError(.failed, "the strategy returned a value that neither of its sides gave it for this load")
    }
}
