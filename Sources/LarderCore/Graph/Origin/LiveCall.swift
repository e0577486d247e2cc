/// The error of a caller whose shared call was answered for other fields than those of its own request.
struct AnotherVariant: Error {}

/// One caller's seat in a flight. The seat is given up when this object is released.
final class LiveCall: Sendable {
    private let flight: Flight
    private let seat: UInt64
    private let request: Request
    private let trail: Trail.Recorder
    /// The number of the caller's load: see ``Call/load``.
    private let load: UInt64

    init(_ flight: Flight, seat: UInt64, for call: Call, load: UInt64) {
        self.flight = flight
        self.seat = seat
        request = call.request
        trail = call.trail
        self.load = load
    }

    deinit { flight.letGo(seat) }

    /// Returns the call's answer, or nil when there is none within `limit`. The caller may wait again after that.
    ///
    /// The wait includes saving. If the answer has arrived when the time ends, but is not saved yet, it is returned
    /// with `isStored` false, and its trail says that saving goes on.
    ///
    /// - Throws: what the call throws; `CancellationError` at once when the waiter's task is cancelled.
    func value(within limit: Duration?) async throws -> Loaded<Entry>? {
        switch await wait(within: limit) {
        case .answered: return try answer()
        case .overran, .networkLost: return nil
        case .left: throw CancellationError()
        }
    }

    /// Waits for the call. Does not read its result.
    func wait(within limit: Duration?, isLast: Bool = true, endsOffline: Bool = false) async -> Flight.Ending {
        await flight.wait(seat, within: limit, isLast: isLast, endsOffline: endsOffline)
    }

    /// Returns the call's answer, or throws its failure.
    @inline(never)
    func answer() throws -> Loaded<Entry> {
        guard let answer = flight.answer else { throw CancellationError() }
        if !mayHave(answer.result) {
            trail.note("shared", .anotherVariant)
            throw AnotherVariant()
        }
        let steps = flight.trail.steps
        trail.add(steps)
        if !answer.isOver, case .success = answer.result,
            !steps.contains(where: { $0.event.kind == .notKept || $0.event.kind == .notSaved })
        {
            trail.note("store", .savingGoesOn)
        }
        var loaded = try value(of: answer.result)
        loaded.provenance.seal(for: request.key, load: load)
        return loaded
    }

    /// Returns whether the result is also for this caller.
    ///
    /// An answer that may not be kept may be for one user only, and so may an error that the origin answers. They are
    /// for callers with the same fields only.
    private func mayHave(_ result: Result<Flight.Received, any Error>) -> Bool {
        switch result {
        case .success(let received):
            received.admission == .keep ? isAsked(by: received.loaded.value.metadata.variesBy) : hasSameFields
        case .failure(let error as LoadError): !error.isAnswer || hasSameFields
        case .failure: true
        }
    }

    /// Returns the value, or throws the error. The origin's explanation of an error is for callers with the same fields
    /// only.
    private func value(of result: Result<Flight.Received, any Error>) throws -> Loaded<Entry> {
        switch result {
        case .success(let received): return received.loaded
        case .failure(var error as LoadError) where error.reply != nil && !hasSameFields:
            error.reply = nil
            throw error
        case .failure(let error): throw error
        }
    }

    private var hasSameFields: Bool { isAsked(by: ["*"]) }

    private func isAsked(by names: [String]) -> Bool {
        request.matches(flight.request, by: names)
    }

    /// Ends the present wait, or else the next one, as if its time were over.
    func wake() { flight.wake(seat) }

    /// Keeps the call alive for `time`, though its caller does not wait any more.
    ///
    /// - Parameter then: called with the end of the call.
    func goOn(for time: Duration, then ended: @escaping @Sendable (LateEnding) -> Void = { _ in }) {
        flight.linger(seat, for: time, then: ended)
    }
}
