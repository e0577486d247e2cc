/// The calls under way: one for each key, codec and make of the live side, whoever asks and however patiently.
package final class Flights: Sendable {
    private struct Identity: Hashable {
        var key: Key
        var codec: Int
        var lineage: Int
        /// Whether it is for loads that a clearing has overtaken, which save nothing. No other load may join it.
        var isOvertaken = false
    }

    private typealias Waiter = CheckedContinuation<Loaded<Entry>, any Error>

    private struct Flight {
        let identity: Identity
        /// Everyone aboard by seat; nil for one who has taken the seat and is about to wait.
        var waiters: [UInt64: Waiter?] = [:]
        var work: Task<Void, Never>?
        /// Set when the flight has ended while somebody was about to wait.
        var result: Result<Loaded<Entry>, any Error>?
        let trail = Trail.Recorder()
    }

    private struct State {
        var next: UInt64 = 0
        var flights: [UInt64: Flight] = [:]
        /// The flights that may still be joined.
        var open: [Identity: UInt64] = [:]

        /// Frees a seat.
        ///
        /// - Returns: the flight, when nobody is left aboard.
        @discardableResult
        mutating func leave(_ number: UInt64, _ seat: UInt64) -> Flight? {
            flights[number]?.waiters.removeValue(forKey: seat)
            return flights[number]?.waiters.isEmpty == true ? flights.removeValue(forKey: number) : nil
        }

        mutating func close(_ flight: Flight, _ number: UInt64) {
            if open[flight.identity] == number { open[flight.identity] = nil }
        }
    }

    private let state = Locked(State())

    package init() {}

    /// The answer of the call under way for this key and codec, or else of one that is started now.
    ///
    /// A flight lives while one waiter remains: when the last one's task is cancelled, so is the call.
    func join(
        _ call: Call, of lineage: Int, in world: any World, order: Order, meter: Meter,
        starting start: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) async throws -> Loaded<Entry> {
        var call = call
        let (number, seat, trail, isNew) = state.withLock { state in
            state.next += 1
            let seat = state.next
            var identity = Identity(key: call.key, codec: call.codec.id, lineage: lineage)
            var open = state.open[identity]
            if let ticket = call.ticket, order.isVoid(ticket) {
                identity.isOvertaken = true
                open = open ?? state.open[identity]
            }
            if let number = open, let flight = state.flights[number] {
                state.flights[number]?.waiters[seat] = .some(nil)
                return (number, seat, flight.trail, false)
            }
            var flight = Flight(identity: identity)
            flight.waiters[seat] = .some(nil)
            state.flights[seat] = flight
            state.open[identity] = seat
            // The call's place in the order is taken before anything of it starts.
            call.ticket = order.begin(call.key, for: call.ticket)
            return (seat, seat, flight.trail, true)
        }
        if isNew {
            launch(call, number, trail, in: world, start)
        } else {
            meter.count(.coalesced)
            call.trail.note("shared", "joined the call under way")
        }
        defer { call.trail.add(trail.steps) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                if let result = sit(number, seat, waiter) { waiter.resume(with: result) }
            }
        } onCancel: {
            leave(number, seat)
        }
    }

    /// Lets nobody join the calls under way for the selected keys. Those who wait for them get their answers.
    func close(_ selection: Selection) {
        state.withLock { state in
            state.open = state.open.filter { !selection.mayContain($0.key.key) }
        }
    }

    private func launch(
        _ call: Call, _ number: UInt64, _ trail: Trail.Recorder, in world: any World,
        _ start: @escaping @Sendable (Call) async throws -> Loaded<Entry>
    ) {
        var shared = call
        shared.due = nil
        shared.trail = trail
        let work = world.spawn { [shared] in
            let result: Result<Loaded<Entry>, any Error>
            do { result = .success(try await start(shared)) } catch { result = .failure(error) }
            self.land(number, result)
        }
        let isAbandoned = state.withLock { state -> Bool in
            state.flights[number]?.work = work
            return state.flights[number] == nil
        }
        if isAbandoned { work.cancel() }
    }

    /// Lets `waiter` wait, unless there is nothing to wait for any more.
    private func sit(_ number: UInt64, _ seat: UInt64, _ waiter: Waiter) -> Result<Loaded<Entry>, any Error>? {
        state.withLock { state in
            guard state.flights[number]?.waiters[seat] != nil else { return .failure(CancellationError()) }
            guard let result = state.flights[number]?.result else {
                state.flights[number]?.waiters[seat] = .some(waiter)
                return nil
            }
            state.leave(number, seat)
            return result
        }
    }

    /// Hands the result to everyone aboard.
    private func land(_ number: UInt64, _ result: Result<Loaded<Entry>, any Error>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard let flight = state.flights[number] else { return [] }
            state.close(flight, number)
            state.flights[number]?.result = result
            let waiting = flight.waiters.filter { $0.value != nil }.sorted { $0.key < $1.key }
            for (seat, _) in waiting { state.leave(number, seat) }
            return waiting.compactMap(\.value)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func leave(_ number: UInt64, _ seat: UInt64) {
        let (waiter, work) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[number]?.waiters[seat] else { return (nil, nil) }
            guard let abandoned = state.leave(number, seat) else { return (waiter, nil) }
            state.close(abandoned, number)
            return (waiter, abandoned.work)
        }
        work?.cancel()
        waiter?.resume(throwing: CancellationError())
    }
}
