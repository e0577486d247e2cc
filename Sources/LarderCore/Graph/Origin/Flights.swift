import LarderSystem

/// The calls under way. Callers share a flight if key, codec and declaration of the live side are equal, and the fields
/// by which the answers for the key vary. Their modes and patience may differ.
package final class Flights: Sendable {
    /// Identifies the calls that may be shared.
    struct Identity: Hashable {
        var key: Key
        /// The requests that may share the flight.
        var sharing: Variations.Sharing
        var codec: Int
        var declaration: Int
        /// Whether it is for loads that began before a clearing. They save nothing, and no later load may join them.
        var isOvertaken = false
    }

    private struct State {
        var seats: UInt64 = 0
        /// The flights that callers may join.
        var open: [Identity: Flight] = [:]
        /// All flights that have not ended, by the seats of their first callers.
        var underWay: [UInt64: Flight] = [:]
    }

    private let state = Locked(State())
    private let order: WriteOrder
    private let variations: Variations
    private let world: any World

    init(order: WriteOrder, variations: Variations, in world: any World) {
        self.order = order
        self.variations = variations
        self.world = world
    }

    /// Joins the flight for this call, or starts one.
    func join(_ call: Call, of side: OriginSide, beginsOnCaller: Bool) -> LiveCall {
        let sharing = variations.sharing(
            of: call.request, adding: side.addedFields, afterMismatches: call.mismatches)
        var identity = Identity(
            key: call.key, sharing: sharing, codec: call.codec.id, declaration: side.declaration)
        let isVoid = call.ticket.map(order.isVoid) ?? false
        let (flight, seat, ticket) = state.withLock { state -> (Flight, UInt64, Ticket?) in
            state.seats += 1
            let seat = state.seats
            var open = state.open[identity]
            // No load that began after another process's clearing joins a call that began before it.
            if !isVoid, let flight = open, order.mayBeVoidElsewhere(call.key, since: flight.position) { open = nil }
            if isVoid {
                identity.isOvertaken = true
                open = open ?? state.open[identity]
            }
            if let open, open.take(seat) { return (open, seat, nil) }
            // The order of calls is the order in which their flights begin.
            let ticket = order.begin(call.key, for: call.ticket)
            let flight = Flight(
                for: call.request, adding: side.addedFields, seat, in: self, as: identity, since: ticket.position,
                world: world)
            state.open[identity] = flight
            state.underWay[seat] = flight
            return (flight, seat, ticket)
        }
        if let ticket {
            launch(call, ticket: ticket, flight: flight, side: side, beginsOnCaller: beginsOnCaller)
        } else {
            flight.raise(to: call.request.priority)
            side.meter.count(.coalesced)
            call.trail.note("shared", .joined)
        }
        return LiveCall(flight, seat: seat, for: call, load: ticket?.since ?? call.load)
    }

    /// Returns whether there is a flight that this call would join.
    func isUnderWay(_ call: Call, of side: OriginSide) -> Bool {
        let sharing = variations.sharing(
            of: call.request, adding: side.addedFields, afterMismatches: call.mismatches)
        let identity = Identity(
            key: call.key, sharing: sharing, codec: call.codec.id, declaration: side.declaration)
        return state.withLock { state in
            state.open[identity].map { !order.mayBeVoidElsewhere(call.key, since: $0.position) } ?? false
        }
    }

    /// Closes the flights of the selected keys to further callers. The callers that wait for them get the answers.
    func close(_ selection: Selection) {
        state.withLock { state in
            state.open = state.open.filter { !selection.mayConcern($0.key.key) }
        }
    }

    /// Closes all flights to further callers, because calls without a network may hang, and ends the waits of callers that
    /// can do something else.
    func networkIsLost() {
        let flights = state.withLock { state in
            state.open = [:]
            return state.underWay.sorted { $0.key < $1.key }.map(\.value)
        }
        for flight in flights { flight.endOfflineWaits() }
    }

    /// Waits until the answers that have arrived by now are saved.
    func finishSaving() async {
        // Sorted, because the order of a dictionary varies and a replayed history must be the same.
        let flights = state.withLock { state in state.underWay.sorted { $0.key < $1.key }.map(\.value) }
        for flight in flights { await flight.saving?.value }
    }

    private func launch(
        _ call: Call, ticket: Ticket, flight: Flight, side: OriginSide, beginsOnCaller: Bool
    ) {
        var shared = call
        shared.ticket = ticket
        shared.deadline = nil
        shared.trail = flight.trail
        shared.shared = flight
        let work = { @Sendable [shared] in
            let result: Result<Flight.Received, any Error>
            do { result = .success(try await side.ask(shared)) } catch { result = .failure(error) }
            flight.land(result)
        }
        flight.launched(beginsOnCaller ? world.begin(work) : world.spawn(work))
    }

    /// Closes a flight that has ended or was abandoned.
    func ended(_ flight: Flight, identity: Identity, seat: UInt64) {
        state.withLock { state in
            if state.open[identity] === flight { state.open[identity] = nil }
            state.underWay[seat] = nil
        }
    }
}
