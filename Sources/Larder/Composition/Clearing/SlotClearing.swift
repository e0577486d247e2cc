/// The outcome of clearing the stores of one resource.
struct ClearedStores: Sendable {
    /// The places that every store which holds them has cleared.
    var places: Set<PlaceName> = []
    /// The first of the failures, after all stores were tried.
    var failure: (any Error)?
}

extension Slot {
    /// Forgets the selected entries, also where former graphs are still in use.
    func clear(_ selection: Selection) async -> ClearedStores {
        await clearing(shelves) { try await $0.clear(selection) }
    }

    /// Carries out a clearing that was not finished, in the stores that hold some of these places.
    func finish(_ clearing: Clearing, in places: Set<PlaceName>) async -> ClearedStores {
        let concerned = shelves.filter { !$0.places.isDisjoint(with: places) }
        return await self.clearing(concerned) { shelf in
            if let gate = shelf.store as? GatedStore, gate.covers(clearing) {
                try await gate.open()
            } else {
                try await shelf.clear(clearing.selection)
            }
        }
    }

    private func clearing(
        _ shelves: [(shelf: Shelf, places: Set<PlaceName>)], by clear: (Shelf) async throws -> Void
    ) async -> ClearedStores {
        var cleared = ClearedStores()
        var failed: Set<PlaceName> = []
        for (shelf, places) in shelves {
            do {
                try await clear(shelf)
                cleared.places.formUnion(places)
            } catch {
                cleared.failure = cleared.failure ?? error
                failed.formUnion(places)
            }
        }
        cleared.places.subtract(failed)
        return cleared
    }
}
