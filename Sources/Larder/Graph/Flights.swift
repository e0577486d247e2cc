/// The calls under way: one for each key, codec and make of the live side, whoever asks and however patiently.
package final class Flights: Sendable {
    private struct Identity: Hashable {
        var key: Key
        var codec: Int
        var lineage: Int
        /// Whether it is for loads that a clearing has overtaken, which save nothing. No other load may join it.
        var isOvertaken = false
    }

    private struct State {
        var seats: UInt64 = 0
        /// The flights that may still be joined.
        var open: [Identity: Flight] = [:]
        /// All that have not landed.
        var underWay: [ObjectIdentifier: Flight] = [:]
    }

    private let state = Locked(State())
    private let world: any World
    private let alarms: Alarms

    package init(in world: any World) {
        self.world = world
        alarms = Alarms(in: world)
    }

    /// Joins the call under way for this key and codec, or starts one.
    func join(
        _ call: Call, of lineage: Int, order: Order, meter: Meter,
        starting start: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) -> LiveCall {
        var call = call
        var identity = Identity(key: call.key, codec: call.codec.id, lineage: lineage)
        let isVoid = call.ticket.map(order.isVoid) ?? false
        let (flight, seat, isNew) = state.withLock { state in
            state.seats += 1
            let seat = state.seats
            var open = state.open[identity]
            if isVoid {
                identity.isOvertaken = true
                open = open ?? state.open[identity]
            }
            if let open, open.take(seat) { return (open, seat, false) }
            let flight = Flight(alarms) { [weak self, identity] in self?.ended($0, identity) }
            _ = flight.take(seat)
            state.open[identity] = flight
            state.underWay[ObjectIdentifier(flight)] = flight
            // The call's place in the order is taken before anything of it starts.
            call.ticket = order.begin(call.key, for: call.ticket)
            return (flight, seat, true)
        }
        if isNew {
            launch(call, flight, start)
        } else {
            meter.count(.coalesced)
            call.trail.note("shared", "joined the call under way")
        }
        return LiveCall(flight, seat: seat, for: call)
    }

    /// Lets nobody join the calls under way for the selected keys. Those who wait for them get their answers.
    func close(_ selection: Selection) {
        state.withLock { state in
            state.open = state.open.filter { !selection.mayContain($0.key.key) }
        }
    }

    /// Waits until the answers that have arrived by now are saved.
    func settle() async {
        let flights = state.withLock { Array($0.underWay.values) }
        for flight in flights { await flight.saving?.value }
    }

    private func launch(
        _ call: Call, _ flight: Flight, _ start: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) {
        var shared = call
        shared.due = nil
        shared.trail = flight.trail
        shared.arrived = { flight.arrived($0) }
        flight.launched(
            world.spawn { [shared] in
                let result: Result<Loaded<Entry>, any Error>
                do { result = .success(try await start(shared)) } catch { result = .failure(error) }
                flight.land(result)
            })
    }

    private func ended(_ flight: Flight, _ identity: Identity) {
        state.withLock { state in
            if state.open[identity] === flight { state.open[identity] = nil }
            state.underWay[ObjectIdentifier(flight)] = nil
        }
    }
}
