/// Receives what comes from outside: dates it, has it admitted, decodes it. Whatever fails here is the origin's failure.
package struct Decoding: Loader {
    let inner: any Loader
    let arrival: Arrival
    let validators: Validators
    let world: any World

    package init(_ inner: any Loader, from arrival: Arrival = .origin, validators: Validators, world: any World) {
        self.inner = inner
        self.arrival = arrival
        self.validators = validators
        self.world = world
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        var loaded = try await inner.load(call)
        let now = world.now
        loaded.value.metadata.isExpired = false
        if loaded.source == .revalidated {
            loaded.value.metadata.validatedAt = now
        } else {
            loaded.value.metadata.fetchedAt = now
            loaded.value.metadata.validatedAt = nil
            loaded.value.metadata.spread = world.chance()
            do {
                try validators.admit(&loaded.value, from: arrival)
            } catch {
                throw LoadError(.refused, "payload refused: \(error.reason)", origin: error)
            }
        }
        do {
            try loaded.value.payload.decode(with: call.codec)
        } catch {
            throw LoadError(.undecodable, "payload does not decode", origin: error)
        }
        return loaded
    }
}
