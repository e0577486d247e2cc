/// A store and what must live exactly as long as it: the order of its writes, the calls under way, the refreshes, and
/// which keys' origins are left alone.
package final class Shelf: Sendable {
    package let store: any Store
    /// Shared by all shelves of a resource: a former one may still write where this one does.
    let order: Order
    let flights: Flights
    let refreshes = Refreshes()
    let backOff = BackOff()
    /// Of the graph that is in effect.
    private let meter: Locked<Meter>
    private let observers: Observers

    init(
        _ store: any Store, order: Order = Order(), meter: Meter, observers: Observers = Observers(), world: any World
    ) {
        self.store = store
        flights = Flights(in: world)
        self.order = order
        self.meter = Locked(meter)
        self.observers = observers
    }

    /// Counts with another meter from now on: the shelf outlives the graph it was made for.
    func count(with next: Meter) { meter.withLock { $0 = next } }

    private func count(_ counter: Counter) { meter.withLock { $0 }.count(counter) }

    /// Forgets the selected entries. Calls under way neither save what they bring nor are joined by later loads.
    package func clear(_ selection: Selection) async throws {
        defer { flights.close(selection) }
        try await order.clear(selection) { try await store.remove(selection) }
    }

    /// Saves an answer, unless it was overtaken.
    ///
    /// - Returns: whether the entry is kept now.
    func save(_ entry: Entry, _ ticket: Ticket, _ trail: Trail.Recorder) async -> Bool {
        do {
            var isKept = false
            let isNewest = try await order.perform(ticket, tags: entry.metadata.tags) {
                isKept = try await store.write(entry, for: ticket.key)
            }
            if isNewest {
                observers.saved(entry, isKept: isKept, for: ticket.key)
            } else {
                trail.note("store", "not saved: cleared or overtaken by a later call")
            }
            return isKept
        } catch {
            // It is the newest all the same, kept or not.
            let isKept = report(error, .write, trail, "not saved")
            observers.saved(entry, isKept: isKept, for: ticket.key)
            return isKept
        }
    }

    /// Removes the entry because the origin says it is gone, unless that answer was overtaken.
    func drop(_ ticket: Ticket, _ trail: Trail.Recorder) async {
        do {
            let isNewest = try await order.perform(ticket) { try await store.remove(.key(ticket.key)) }
            if isNewest { trail.note("store", "copy dropped: the origin says it is gone") }
        } catch {
            _ = report(error, .remove, trail, "copy not dropped")
        }
    }

    /// Removes a damaged entry, unless it was replaced meanwhile.
    func discard(_ ticket: Ticket, _ trail: Trail.Recorder) async {
        count(.corrupt)
        do {
            _ = try await order.perform(ticket, if: .untouched) { try await store.remove(.key(ticket.key)) }
        } catch {
            _ = report(error, .remove, trail, "damaged copy not removed")
        }
    }

    /// Puts the sound copy of an upper tier in the place of a damaged one below it, unless something changed meanwhile.
    func mend(with found: Found, _ ticket: Ticket, _ trail: Trail.Recorder) async {
        count(.corrupt)
        do {
            _ = try await order.perform(ticket, if: .untouched, tags: found.entry.metadata.tags) {
                _ = try await store.write(found.entry, for: ticket.key)
            }
        } catch {
            _ = report(error, .write, trail, "damaged copy not replaced")
        }
    }

    /// Copies an entry up to the tiers that lack it, unless something changed meanwhile.
    func promote(_ found: Found, _ ticket: Ticket, _ trail: Trail.Recorder) async {
        do {
            _ = try await order.perform(ticket, if: .untouched, tags: found.entry.metadata.tags) {
                try await store.promote(found, for: ticket.key)
            }
        } catch {
            _ = report(error, .write, trail, "not copied up")
        }
    }

    /// Counts the faults and notes them.
    ///
    /// - Returns: whether a write was kept all the same.
    func report(_ error: any Error, _ kind: Fault.Kind, _ trail: Trail.Recorder, _ effect: String) -> Bool {
        let failure = error as? StoreError
        let faults = failure?.faults ?? []
        report(faults.isEmpty ? [StoreFault(tier: "store", error: error)] : faults, kind, trail, effect)
        return failure?.isStored ?? false
    }

    func report(_ faults: [StoreFault], _ kind: Fault.Kind, _ trail: Trail.Recorder, _ effect: String) {
        if faults.isEmpty { return }
        meter.withLock { $0 }.faulted(faults, kind)
        for fault in faults { trail.note("store", "\(effect): \(fault)") }
    }
}
