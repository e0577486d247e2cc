/// Saves what the live side brings, and tells it what is known already.
package struct Saving: Loader {
    let live: any Loader
    let shelf: Shelf
    let cached: Lookup
    let world: any World

    package init(_ live: any Loader, on shelf: Shelf, cached: Lookup, world: any World) {
        self.live = live
        self.shelf = shelf
        self.cached = cached
        self.world = world
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let ticket = call.ticket ?? shelf.order.begin(call.key)
        let known = call.hasLooked ? call.known : await copy(for: call)
        var loaded = try await answer(to: call.knowing(known), ticket)
        call.arrived?(loaded)
        loaded.isStored = await shelf.save(loaded.value, ticket, call.trail)
        return loaded
    }

    private func answer(to call: Call, _ ticket: Ticket) async throws -> Loaded<Entry> {
        do {
            let loaded = try await live.load(call)
            shelf.backOff.succeeded(call.key)
            return loaded
        } catch {
            guard let failure = LoadError.meaning(of: error) else { throw error }
            if failure.isAnswer { shelf.backOff.succeeded(call.key) } else { shelf.backOff.failed(call.key, in: world) }
            if failure.saysGone { await shelf.drop(ticket, call.trail) }
            throw error
        }
    }

    private func copy(for call: Call) async -> Entry? {
        // Any copy will do to ask under a condition: the call does not wait for lower tiers.
        guard let copy = try? await cached.copy(for: call.knowing(nil)) else { return nil }
        return copy.revalidatable
    }
}
