/// Lets all who want the same thing at the same time wait for one call.
package struct Shared: Loader {
    let live: any Loader
    let shelf: Shelf
    let world: any World
    let meter: Meter
    /// What the live side is made of. Callers with another one do not join its flights.
    let lineage: Int

    /// How long a call goes on when a caller's deadline has passed.
    private static let linger = Duration.seconds(60)

    package init(_ live: any Loader, on shelf: Shelf, lineage: Int, world: any World, meter: Meter) {
        self.live = live
        self.shelf = shelf
        self.lineage = lineage
        self.world = world
        self.meter = meter
    }

    /// Joins the call under way, or starts one.
    func join(_ call: Call) -> LiveCall {
        shelf.flights.join(call, of: lineage, order: shelf.order, meter: meter) { [live] in try await live.load($0) }
    }

    /// The call's answer. At the caller's deadline the wait ends, and the call goes on for others.
    package func load(_ call: Call) async throws -> Loaded<Entry> {
        let joined = join(call)
        if let loaded = try await joined.value(within: call.due.map { $0 - world.uptime }) { return loaded }
        joined.goOn(for: Self.linger)
        throw Lookup.overdue
    }
}
