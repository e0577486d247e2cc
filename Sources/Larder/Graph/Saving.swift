/// Saves what the live side brings, and tells it what is known already.
package struct Saving: Loader {
    let live: any Loader
    let shelf: Shelf
    let cached: Lookup

    package init(_ live: any Loader, on shelf: Shelf, cached: Lookup) {
        self.live = live
        self.shelf = shelf
        self.cached = cached
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let ticket = call.ticket ?? shelf.order.begin(call.key)
        let known = call.hasLooked ? call.known : await copy(for: call)
        do {
            var loaded = try await live.load(call.knowing(known))
            loaded.isStored = await shelf.save(loaded.value, ticket, call.trail)
            return loaded
        } catch let error as LoadError where error.saysGone {
            await shelf.drop(ticket, call.trail)
            throw error
        }
    }

    private func copy(for call: Call) async -> Entry? {
        guard let copy = try? await cached.load(call) else { return nil }
        return copy.revalidatable
    }
}

extension Loaded where Value == Entry {
    /// The entry, if the origin may be asked whether it is still current.
    var revalidatable: Entry? {
        permissions.allows(.revalidation) && value.metadata.hasCondition ? value : nil
    }
}
