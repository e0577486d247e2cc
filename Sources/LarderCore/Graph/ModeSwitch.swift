/// Chooses by a request's mode: the strategy answers normal requests, and one side answers the others. Rejects a value
/// that a strategy did not get from one of its sides.
package struct ModeSwitch: Loader {
    let strategy: any Loader
    let sides: Sides
    private let pastStrategy: PastStrategy

    package init(_ strategy: any Loader, sides: Sides) {
        (self.strategy, self.sides, pastStrategy) = (strategy, sides, PastStrategy(sides: sides))
    }

    /// The rule of the strategy. Without one, copies are shown at once only while the origin is not called, and for
    /// cached-only requests.
    package var hitRule: HitRule? { strategy.hitRule ?? HitRule(sides, shows: []) }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        // There is one wait for both, so that the frame stays small: see ``MeasuredLoader``.
        let loader: any Loader = call.request.mode == .normal ? strategy : pastStrategy
        let loaded = try await loader.load(call)
        if call.request.mode != .normal || loaded.provenance.isSealed(for: call.key, load: call.load) { return loaded }
        throw Self.unsealed
    }

    private static var unsealed: LoadError {
        LoadError(.failed, "the strategy returned a value that neither of its sides gave it for this load")
    }

    /// Answers the requests that the strategy does not: by one side.
    private struct PastStrategy: Loader {
        let sides: Sides

        func load(_ call: Call) async throws -> Loaded<Entry> {
            if call.request.mode == .cachedOnly { return try await sides.cached.load(call) }
            return try await sides.load(call)
        }
    }
}
