/// Heeds how a request wants to be answered before the strategy has its say, and shows nothing of a strategy that neither
/// of its sides gave it.
package struct Asked: Loader {
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
            // Looked at where it lies: to unwrap it is to copy it.
            if answer?.account.isSealed(for: request.key) == true { return answer }
            return sides.answerWhileResting(request, codec: codec, for: uses)
        case .cachedOnly: return sides.cached.answer(request, codec: codec, for: uses)
        case .refresh: return nil
        }
    }

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
        // An answer that a side gave at once is as good.
        if loaded.account.isSealed(for: call.key, load: call.load) || loaded.account.isSealed(for: call.key) {
            return loaded
        }
        throw LoadError(.failed, "the strategy returned a value that neither of its sides gave it for this load")
    }
}
