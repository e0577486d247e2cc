import Synchronization

/// A store and what must live exactly as long as it: the order of its writes, the calls under way, the refreshes, and
/// which keys' origins are left alone.
package final class Shelf: Sendable {
    package let store: any Store
    /// Shared by all shelves of a resource: a former one may still write where this one does.
    let order: Order
    let flights: Flights
    let refreshes = Refreshes()
    let backOff = BackOff()
    let failedClearings = FailedClearings()
    private let health = StoreHealth()
    /// Reads whose copy was refused, and those whose copy gave way to a fresher one.
    private let refused = Atomic(0)
    private let superseded = Atomic(0)
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

    var leftovers: Leftovers { order.leftovers }

    var world: any World { meter.withLock { $0 }.world }

    /// Forgets the selected entries. Calls under way neither save what they bring nor are joined by later loads.
    package func clear(_ selection: Selection) async throws {
        defer { flights.close(selection) }
        try await remove(selection, isAgain: false)
    }

    /// Removes the selected entries, and remembers them as cleared if that fails.
    ///
    /// - Parameter isAgain: whether it is another try.
    func remove(_ selection: Selection, isAgain: Bool) async throws {
        do {
            try await order.clear(selection, isAgain: isAgain) { try await store.remove(selection) }
        } catch {
            failedClearings.add(selection)
            _ = report(error, .remove, Trail.Recorder(), "not cleared")
            throw error
        }
        leftovers.forget(selection)
        failedClearings.remove(selection)
        works(.remove)
    }

    /// Saves an answer, unless it was overtaken.
    ///
    /// - Returns: whether the entry is kept now.
    func save(_ entry: Entry, _ ticket: Ticket, _ trail: Trail.Recorder) async -> Bool {
        do {
            var isKept = false
            let isNewest = try await order.perform(ticket, tags: entry.metadata.tags) {
                isKept = try await keep(entry, for: ticket.key)
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
            let isNewest = try await order.perform(ticket) { try await removeGone(ticket.key) }
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
        let meter = meter.withLock { $0 }
        meter.faulted(faults, kind)
        for fault in health.failed(faults, kind, at: meter.world.uptime) {
            meter.tell(.storeFault, "cannot \(kind.rawValue): \(fault)")
        }
        for fault in faults { trail.note("store", "\(effect): \(fault)") }
    }

    /// Something worked, in these tiers or in all of them. If it did not before, the log is told.
    func works(_ kind: Fault.Kind, in tiers: [String]? = nil) {
        guard health.isFailing else { return }
        let meter = meter.withLock { $0 }
        for (fault, length) in health.worked(kind, tiers, at: meter.world.uptime) {
            meter.tell(.storeFault, "can \(kind.rawValue) again, after \(length.brief): \(fault.tier)")
        }
    }

    // MARK: Looking

    /// Finds the entry under `key`.
    func read(_ key: Key) async throws -> Found? {
        let found = try await store.read(key)
        // Tiers below the one where something was found were not asked. The store as a whole has worked.
        works(.read, in: found.map { [$0.tier, "store"] })
        return found
    }

    /// Whether a copy lies under `key` that the origin has not called gone.
    func contains(_ key: Key) async throws -> Bool {
        if flaw(of: key)?.hidden != nil { return false }
        return try await read(key) != nil
    }

    /// A copy that was read may not be shown.
    func countRefused() { refused.add(1, ordering: .relaxed) }

    /// A copy that was read gave way to one in another tier.
    func countSuperseded() { superseded.add(1, ordering: .relaxed) }

    /// How much is kept and how reads went. The store counts what it found; what was refused then is a miss.
    func statistics() async -> StoreStatistics {
        var statistics = await store.statistics()
        let refused = refused.load(ordering: .relaxed)
        statistics.hits = max(0, statistics.hits - refused - superseded.load(ordering: .relaxed))
        statistics.misses += refused
        return statistics
    }
}
