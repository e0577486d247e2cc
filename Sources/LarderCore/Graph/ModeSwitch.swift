/// Chooses by a request's mode: the strategy answers normal requests, and one side answers the others. Rejects a value
/// that a strategy did not get from one of its sides.
package struct ModeSwitch: Loader {
    let strategy: any Loader
    let sides: Sides

    package init(_ strategy: any Loader, sides: Sides) {
        self.strategy = strategy
        self.sides = sides
    }

    package func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        switch request.mode {
        case .normal:
            let answer = strategy.answer(request, codec: codec, for: uses)
            // Read in place, because unwrapping the answer copies it.
            if answer?.provenance.isSealed(for: request.key) == true { return answer }
            return sides.answerWhileResting(request, codec: codec, for: uses)
        case .cachedOnly: return sides.cached.answer(request, codec: codec, for: uses)
        case .refresh: return nil
        }
    }

    /// The rule of the strategy, for normal requests.
    package var hitRule: HitRule? { strategy.hitRule }

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
        // The second seal is that of an answer given at once.
        if loaded.provenance.isSealed(for: call.key, load: call.load) || loaded.provenance.isSealed(for: call.key) {
            return loaded
        }
        throw LoadError(.failed, "the strategy returned a value that neither of its sides gave it for this load")
    }
}
