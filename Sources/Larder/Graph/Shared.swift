/// Lets all who want the same thing at the same time wait for one call.
package struct Shared: Loader {
    let live: any Loader
    let shelf: Shelf
    let world: any World
    let meter: Meter
    /// What the live side is made of. Whoever has another does not join its flights.
    let lineage: Int

    package init(_ live: any Loader, on shelf: Shelf, lineage: Int, world: any World, meter: Meter) {
        self.live = live
        self.shelf = shelf
        self.lineage = lineage
        self.world = world
        self.meter = meter
    }

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        try await shelf.flights.join(call, of: lineage, in: world, order: shelf.order, meter: meter) {
            try await live.load($0)
        }
    }
}
