import LarderSystem

/// The owner of calls under way.
protocol FlightOwner: AnyObject, Sendable {
    /// Forgets a call that has ended or was abandoned.
    func ended(_ flight: Flight)
}

/// A call under way that callers share.
///
/// Each caller has a seat. When the last seat is given up before an answer has arrived, the call is cancelled. An
/// answer that has arrived is always saved.
final class Flight: SharedCall {
    /// The end of one wait. It does not hold the answer, because each of thousands of waiting loads would reserve room
    /// for it.
    enum Ending: Sendable {
        /// The answer has arrived, or the call failed.
        case answered
        /// The time of the wait is over without an answer.
        case overran
        /// The device lost its network before an answer arrived.
        case networkLost
        /// The seat was given up.
        case left
    }

    /// Identifies the calls for a key that may be shared.
    struct Identity: Hashable {
        /// The requests that may share the flight.
        var sharing: FieldFacts.Sharing
        var codec: Int
        var declaration: Int
        /// The number of the store that keeps the answer.
        var store: UInt64
        /// Whether it is for loads that began before a clearing. They save nothing, and no later load may join them.
        var isOvertaken = false
    }

    /// An answer of the origin, and whether it may be kept.
    struct Received: Sendable {
        var loaded: Loaded<Entry>
        let admission: Admission
    }

    private struct State {
        var seats = FlightSeats()
        var priority: CallPriority
        var work: Task<Void, Never>?
        var arrived: Result<Received, any Error>?
        var result: Result<Received, any Error>?
        var isAbandoned = false

        /// Gives up a seat, and abandons the call if that was the last seat and there is no answer.
        mutating func leave(_ seat: UInt64) -> FlightSeat? {
            guard let taken = seats.remove(seat) else { return nil }
            if seats.isEmpty, arrived == nil, result == nil { isAbandoned = true }
            return taken
        }
    }

    let trail = Trail.Recorder()
    /// The request of the caller that started the call.
    let request: Request
    private let world: any World
    private let owner: any FlightOwner
    let identity: Identity
    /// The number of the last clearing by another process before the call's load began.
    let position: UInt64
    /// The seat of the caller that started the call. Flights that begin later have larger ones.
    let firstSeat: UInt64
    private let state: Locked<State>

    /// Creates a flight with the seat of the caller that starts the call.
    ///
    /// - Parameter owner: is told when no further caller may join.
    init(
        for request: Request, _ seat: UInt64, endedBy owner: any FlightOwner,
        as identity: Identity, since position: UInt64, world: any World
    ) {
        self.request = request
        self.world = world
        self.owner = owner
        self.identity = identity
        self.position = position
        firstSeat = seat
        var state = State(priority: CallPriority(request.priority))
        state.seats[seat] = .idle(isWoken: false)
        self.state = Locked(state)
    }

    /// Tells that no further caller may join.
    private func end() { owner.ended(self) }

    // MARK: The priority

    var priority: Request.Priority { state.withLock { $0.priority.value } }

    /// Raises the priority and tells all listeners. Does nothing if the priority is as high already.
    func raise(to priority: Request.Priority) {
        for listener in state.withLock({ $0.priority.raise(to: priority) }) { listener(priority) }
    }

    func onRaise(_ listener: @escaping CallPriority.Listener) -> Subscription {
        let (number, raised) = state.withLock { $0.priority.add(listener) }
        if let raised { listener(raised) }
        return Subscription { [weak self] in _ = self?.state.withLock { $0.priority.remove(number) } }
    }

    // MARK: The call

    /// Sets the task that makes the call.
    func launched(_ work: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            // The call may have ended already.
            if state.result == nil { state.work = work }
            return state.isAbandoned
        }
        if isAbandoned { work.cancel() }
    }

    /// Notes that the answer has arrived. Saving begins, and a caller whose time ends is given the answer before it is
    /// saved.
    func arrived(_ loaded: Loaded<Entry>, _ admission: Admission) {
        state.withLock { $0.arrived = .success(Received(loaded: loaded, admission: admission)) }
    }

    /// Notes that the origin's answer is an error. The copy is being dropped, and a caller whose time ends is given the
    /// error before that has ended.
    func arrived(_ error: any Error) {
        state.withLock { $0.arrived = .failure(error) }
    }

    /// Ends the flight with the result of the call, and resumes all waiters.
    func land(_ result: Result<Received, any Error>) {
        end()
        let (first, others) = state.withLock { state in
            state.result = result
            state.work = nil
            return state.seats.removeBusy()
        }
        if let first { answered(first, result) }
        for seat in others { answered(seat, result) }
    }

    private func answered(_ seat: FlightSeat, _ result: Result<Received, any Error>) {
        seat.alarm?.cancel()
        seat.waiter?.resume(returning: .answered)
        seat.tell(LateEnding(of: result))
    }

    /// The result of the call, and whether the store has changed, too; nil while there is no answer.
    var answer: (result: Result<Received, any Error>, isOver: Bool)? {
        state.withLock { state in
            state.result.map { ($0, true) } ?? state.arrived.map { ($0, false) }
        }
    }

    /// The task that saves the answer or drops the copy; nil while there is no answer.
    var saving: Task<Void, Never>? { state.withLock { $0.arrived == nil ? nil : $0.work } }

    // MARK: Seats

    /// Takes a seat. Returns false if the call was abandoned.
    func take(_ seat: UInt64) -> Bool {
        state.withLock { state in
            if !state.isAbandoned { state.seats[seat] = .idle(isWoken: false) }
            return !state.isAbandoned
        }
    }

    /// Waits for the call, at most for `limit`, or without a limit if that is nil. The seat is kept when the time is
    /// over.
    ///
    /// - Parameters:
    ///   - isLast: whether this is the caller's last wait. If so, an answer that is still being saved ends it as
    ///     `answered`.
    ///   - endsOffline: whether the wait also ends as `networkLost` when the device loses its network.
    func wait(_ seat: UInt64, within limit: Duration?, isLast: Bool = true, endsOffline: Bool = false) async -> Ending {
        // A call that began on its caller's thread has often ended by now.
        if !Task.isCancelled, isOver(for: seat) { return .answered }
        return await withTaskCancellationHandler {
            await Suspension.wait { task in
                let waiter = FlightSeat.Waiter(task: task, endsOffline: endsOffline)
                return sit(seat, waiter: waiter, within: limit, isLast: isLast)
            }
        } onCancel: {
            leave(seat)
        }
    }

    /// Returns whether the call has ended, and the seat is taken.
    private func isOver(for seat: UInt64) -> Bool { state.withLock { $0.result != nil && $0.seats[seat] != nil } }

    /// Registers `waiter`, or returns the ending if the wait is over already.
    private func sit(_ seat: UInt64, waiter: FlightSeat.Waiter, within limit: Duration?, isLast: Bool) -> Ending? {
        let ending = state.withLock { state -> Ending? in
            guard state.seats[seat] != nil else { return .left }
            if state.result != nil { return .answered }
            if let limit, limit <= .zero { return isLast && state.arrived != nil ? .answered : .overran }
            if case .idle(isWoken: true) = state.seats[seat] {
                state.seats[seat] = .idle(isWoken: false)
                return state.arrived == nil ? .overran : .answered
            }
            state.seats[seat] = .waiting(waiter, alarm: nil)
            return nil
        }
        guard ending == nil, let limit else { return ending }
        let alarm = world.alarm(after: limit) { [weak self] in self?.overran(seat, isLast) }
        let isNeeded = state.withLock { state -> Bool in
            guard case .waiting(let waiter, nil) = state.seats[seat] else { return false }
            state.seats[seat] = .waiting(waiter, alarm: alarm)
            return true
        }
        if !isNeeded { alarm.cancel() }
        return nil
    }

    private func overran(_ seat: UInt64, _ isLast: Bool) {
        let (waiter, hasArrived) = state.withLock { state -> (FlightSeat.Waiter?, Bool) in
            guard case .waiting(let waiter, _) = state.seats[seat] else { return (nil, false) }
            state.seats[seat] = .idle(isWoken: false)
            return (waiter, state.arrived != nil)
        }
        waiter?.resume(returning: isLast && hasArrived ? .answered : .overran)
    }

    /// Ends the waits of callers that can do something else while the device has no network.
    func endOfflineWaits() {
        let (seats, hasArrived) = state.withLock { ($0.seats.endOfflineWaits(), $0.arrived != nil) }
        for seat in seats {
            seat.alarm?.cancel()
            seat.waiter?.resume(returning: hasArrived ? .answered : .networkLost)
        }
    }

    /// Ends the wait in a seat before its time, or else its next wait.
    func wake(_ seat: UInt64) {
        let (woken, ending) = state.withLock { state -> (FlightSeat?, Ending) in
            let taken = state.seats[seat]
            switch taken {
            case .idle: state.seats[seat] = .idle(isWoken: true)
            case .waiting: state.seats[seat] = .idle(isWoken: false)
            case .lingering, nil: return (nil, .overran)
            }
            return (taken, state.arrived == nil ? .overran : .answered)
        }
        woken?.alarm?.cancel()
        woken?.waiter?.resume(returning: ending)
    }

    /// Gives up a seat, and ends the wait in it.
    ///
    /// - Parameter ifLingering: whether to give it up also if its caller has gone and the call goes on for it.
    func leave(_ seat: UInt64, ifLingering: Bool = true) {
        let (left, abandoned, hasArrived) = state.withLock { state -> (FlightSeat?, Task<Void, Never>??, Bool) in
            if !ifLingering, case .lingering = state.seats[seat] { return (nil, nil, false) }
            let left = state.leave(seat)
            return (left, left != nil && state.isAbandoned ? .some(state.work) : nil, state.arrived != nil)
        }
        guard let left else { return }
        left.alarm?.cancel()
        if let abandoned {
            end()
            abandoned?.cancel()
        }
        left.waiter?.resume(returning: .left)
        left.tell(hasArrived ? .answered : .givenUp)
    }

    /// Gives up a seat whose caller has gone, unless the seat is lingering.
    func letGo(_ seat: UInt64) { leave(seat, ifLingering: false) }

    /// Keeps the seat for `time` after its caller has gone, so that the call goes on.
    ///
    /// - Parameter then: called with the end of the call.
    func linger(_ seat: UInt64, for time: Duration, then ended: @escaping @Sendable (LateEnding) -> Void) {
        let alarm = world.alarm(after: time) { [weak self] in self?.leave(seat) }
        let (isKept, result) = state.withLock { state -> (Bool, Result<Received, any Error>?) in
            guard state.seats[seat] != nil, state.result == nil else { return (false, state.result) }
            state.seats[seat] = .lingering(alarm: alarm, ended: ended)
            return (true, nil)
        }
        if !isKept {
            alarm.cancel()
            leave(seat)
            ended(result.map(LateEnding.init(of:)) ?? .givenUp)
        }
    }
}

extension LateEnding {
    fileprivate init(of result: Result<Flight.Received, any Error>) {
        switch result {
        case .success: self = .answered
        case .failure(let error as LoadError) where error.isAnswer: self = .answered
        case .failure(let error as LoadError) where error.code == .timeout: self = .givenUp
        case .failure: self = .failed
        }
    }
}
