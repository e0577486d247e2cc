import LarderSystem

/// Tries loaders in order when the first one fails. An answer of a fallback is always stale and of unknown age.
struct FallbackLoader: Loader {
    let first: any Loader
    let others: [(name: String, loader: any Loader)]
    let validators: Validators
    let world: any World

    var hitRule: HitRule? { first.hitRule }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        do {
            return try await first.load(call)
        } catch {
            // A fallback may use the network, and a cached-only request must not.
            guard let failure = LoadError.meaning(of: error), !failure.isAnswer, call.request.mode != .cachedOnly else {
                throw error
            }
            for (name, loader) in others {
                if let loaded = try await load(name, loader: loader, call: call) {
                    return served(loaded, by: name, for: failure)
                }
            }
            throw failure
        }
    }

    private func load(_ name: String, loader: any Loader, call: Call) async throws -> Loaded<Entry>? {
        do {
            let asked = world.now
            var loaded = try await loader.load(call.knowing(nil))
            loaded.value.metadata.askedAt = asked
            // A fallback's value is never kept.
            _ = try await validators.receive(&loaded, from: .fallback, for: call, in: world)
            return loaded
        } catch {
            guard let failure = LoadError.failure(error) else { throw CancellationError() }
            call.trail.note("fallback \(name)", failure.event)
            return nil
        }
    }

    private func served(_ loaded: Loaded<Entry>, by name: String, for failure: LoadError) -> Loaded<Entry> {
        var loaded = loaded
        loaded.source = .fallback(name)
        loaded.freshness = .stale
        loaded.age = nil
        loaded.isStored = false
        // Without a call no call has failed.
        loaded.fellBack = failure.code != .notCached
        loaded.trail = Trail([Trail.Step("fallback \(name)", .fallbackShown)])
        return loaded
    }
}
