/// Heeds how a request wants to be answered before the strategy has its say.
package struct Asked: Loader {
    let strategy: any Loader
    let sides: Sides

    package init(_ strategy: any Loader, sides: Sides) {
        self.strategy = strategy
        self.sides = sides
    }

    package func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        switch request.mode {
        case .normal: strategy.answer(request, codec: codec, for: uses)
        case .cachedOnly: sides.cached.answer(request, codec: codec, for: uses)
        case .refresh: nil
        }
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        switch call.request.mode {
        case .normal: try await strategy.load(call)
        case .cachedOnly: try await sides.copyOnly(call)
        case .refresh: try await sides.load(call)
        }
    }
}
