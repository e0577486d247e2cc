import LarderSystem

// The calls under way. Callers share a flight if key, store, codec and declaration of the live side are equal, and the fields
// by which the answers for the key vary. Their modes and patience may differ.
extension OriginSide {
    /// Joins the flight for this call, or starts one.
    ///
    /// - Parameter beginsOnCaller: whether the call begins on the caller's thread.
    func join(_ call: Call, beginsOnCaller: Bool) -> LiveCall {
        let keys = storeAccess.keys
        let isVoid = call.ticket.map(keys.isVoid) ?? false
        let position = keys.position
        let (flight, seat, ticket) = keys.change(call.key) { state -> (Flight, UInt64, Ticket?) in
            let seat = keys.number()
            var identity = identity(of: call, in: state)
            var open = state.openFlight(identity)
            // No load that began after another process's clearing joins a call that began before it.
            if !isVoid, let flight = open, keys.mayBeVoidElsewhere(call.key, since: flight.position) { open = nil }
            if isVoid {
                identity.isOvertaken = true
                open = open ?? state.openFlight(identity)
            }
            if let open, open.take(seat) { return (open, seat, nil) }
            // The order of calls is the order in which their flights begin.
            let ticket = keys.ticket(for: state, in: call.ticket, since: call.ticket?.position ?? position)
            let flight = Flight(
                for: call.request, seat, endedBy: keys, as: identity, since: ticket.position,
                world: world)
            state.closeFlight(identity)
            state.flights.append(FlightRecord(flight: flight))
            return (flight, seat, ticket)
        }
        if let ticket {
            launch(call, ticket: ticket, flight: flight, beginsOnCaller: beginsOnCaller)
        } else {
            flight.raise(to: call.request.priority)
            meter.count(.coalesced)
            call.trail.note("shared", .joined)
        }
        return LiveCall(flight, seat: seat, for: call, load: ticket?.since ?? call.load)
    }

    /// Returns whether there is a flight that this call would join.
    func isUnderWay(_ call: Call) -> Bool {
        let keys = storeAccess.keys
        return keys.read(call.key) { state in
            state.openFlight(identity(of: call, in: state)).map {
                !keys.mayBeVoidElsewhere(call.key, since: $0.position)
            }
        } ?? false
    }

    private func identity(of call: Call, in state: KeyState) -> Flight.Identity {
        Flight.Identity(
            sharing: state.sharing(
                of: call.request, afterMismatches: call.mismatches, in: storeAccess.number),
            codec: call.codec.id, declaration: declaration, store: storeAccess.number)
    }

    private func launch(_ call: Call, ticket: Ticket, flight: Flight, beginsOnCaller: Bool) {
        var shared = call
        shared.ticket = ticket
        shared.deadline = nil
        shared.trail = flight.trail
        shared.shared = flight
        let work = { @Sendable [shared] in
            let result: Result<Flight.Received, any Error>
            do { result = .success(try await self.ask(shared, ticket: ticket)) } catch { result = .failure(error) }
            flight.land(result)
        }
        flight.launched(beginsOnCaller ? world.begin(work) : world.spawn(work))
    }
}

extension KeyTable: FlightOwner {
    /// Closes the flights of the selected keys to further callers. The callers that wait for them get the answers.
    func closeFlights(of selection: Selection) {
        changeAll(where: { !$0.flights.isEmpty && selection.mayConcern($0.key) }) { $0.closeFlights() }
    }

    /// Forgets a flight that has ended or was abandoned.
    func ended(_ flight: Flight) {
        change(flight.request.key) { state in state.flights.removeAll { $0.flight === flight } }
    }

    /// Returns the flights for a store, in the order in which they began.
    func flights(for store: UInt64) -> [Flight] {
        all { state in state.flights.map(\.flight).filter { $0.identity.store == store } }.flatMap(\.self)
            .sorted { $0.firstSeat < $1.firstSeat }
    }
}

extension StoreAccess {
    /// Closes all flights to further callers, because calls without a network may hang, and ends the waits of callers that
    /// can do something else.
    func networkIsLost() {
        keys.changeAll(where: { !$0.flights.isEmpty }) { $0.closeFlights() }
        for flight in keys.flights(for: number) { flight.endOfflineWaits() }
    }

    /// Waits until the answers that have arrived by now are saved.
    func finishSaving() async {
        for flight in keys.flights(for: number) { await flight.saving?.value }
    }
}
