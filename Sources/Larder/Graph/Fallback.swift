/// Tries loaders in order when the first fails. What a fallback gives is always stale and of unknown age.
package struct Fallback: Loader {
    let first: any Loader
    let others: [(name: String, loader: any Loader)]

    package init(_ first: any Loader, _ others: [(name: String, loader: any Loader)]) {
        self.first = first
        self.others = others
    }

    package func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        first.answer(request, codec: codec, for: uses)
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            return try await first.load(call)
        } catch {
            // A fallback may be another network away, and cached-only means that none is used.
            guard let failure = LoadError.meaning(of: error), !failure.isAnswer, call.request.mode != .cachedOnly else {
                throw error
            }
            for (name, loader) in others {
                if let loaded = try await load(name, loader, call) {
                    return served(loaded, by: name, for: failure)
                }
            }
            throw failure
        }
    }

    private func load(_ name: String, _ loader: any Loader, _ call: Call) async throws -> Loaded<Entry>? {
        do {
            return try await loader.load(call.knowing(nil))
        } catch {
            guard let failure = LoadError.failure(error) else { throw CancellationError() }
            call.trail.note("fallback \(name)", failure.message)
            return nil
        }
    }

    private func served(_ loaded: Loaded<Entry>, by name: String, for failure: LoadError) -> Loaded<Entry> {
        var loaded = loaded
        loaded.source = .fallback(name)
        loaded.freshness = .stale
        loaded.age = nil
        loaded.isStored = false
        // Where no call was to be made, none failed.
        loaded.fellBack = failure.code != .notCached
        loaded.trail = Trail([Trail.Step("fallback \(name)", "stands in, age unknown")])
        return loaded
    }
}
