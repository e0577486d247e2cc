/// One caller's part in a call of the origin, which others may share. It is given up when nobody holds it any more.
final class LiveCall: Sendable {
    private let flight: Flight
    private let seat: UInt64
    private let call: Call

    init(_ flight: Flight, seat: UInt64, for call: Call) {
        self.flight = flight
        self.seat = seat
        self.call = call
    }

    deinit { flight.letGo(seat) }

    /// Returns the call's answer; nil when there is none within `limit`. Then it can be waited for again.
    ///
    /// Saving the answer is waited for, too, as long as there is time. An answer that has arrived by then is given all the
    /// same: it is not stored yet, and its trail says that saving goes on.
    ///
    /// - Throws: what the call throws; `CancellationError` at once when the waiter's task is cancelled.
    func value(within limit: Duration?) async throws -> Loaded<Entry>? {
        switch await wait(within: limit) {
        case .answered: return try answer()
        case .overran: return nil
        case .left: throw CancellationError()
        }
    }

    /// Waits for the call, without looking at what it gives.
    func wait(within limit: Duration?, isLast: Bool = true) async -> Flight.Ending {
        await flight.wait(seat, within: limit, isLast: isLast)
    }

    /// Returns the call's answer, or throws its failure.
    @inline(never)
    func answer() throws -> Loaded<Entry> {
        guard let answer = flight.answer else { throw CancellationError() }
        call.trail.add(flight.trail.steps)
        if !answer.isOver { call.trail.note("store", "saving goes on") }
        var loaded = try answer.result.get()
        loaded.account.seal(for: call.key, load: call.load)
        return loaded
    }

    /// Ends a wait before its time, as if that were over.
    func wake() { flight.wake(seat) }

    /// Lets the call go on for a while, though its caller does not wait any more.
    func goOn(for time: Duration) {
        flight.linger(seat, for: time)
    }
}
