/// One call under way, and all who wait for it.
///
/// It lives while one seat is taken: when the last one is given up before an answer has arrived, so is the call. An answer
/// that has arrived is saved in any case.
final class Flight: Sendable {
    /// How one wait ended. The answer itself stays in the flight: thousands of waiting loads would each keep room for it.
    enum Ending: Sendable {
        /// The answer is there, or the call failed.
        case answered
        /// The time is over, and there is no answer.
        case overran
        /// The seat was given up.
        case left
    }

    private typealias Waiter = CheckedContinuation<Ending, Never>

    private enum Seat {
        /// Somebody is about to wait, or waits no more for now.
        case idle(isWoken: Bool)
        case waiting(Waiter, alarm: UInt64?)
        /// Nobody waits, but the call is to go on for a while.
        case lingering(alarm: UInt64)

        var alarm: UInt64? {
            switch self {
            case .idle: nil
            case .waiting(_, let alarm): alarm
            case .lingering(let alarm): alarm
            }
        }

        var waiter: Waiter? { if case .waiting(let waiter, _) = self { waiter } else { nil } }
    }

    private struct State {
        var seats: [UInt64: Seat] = [:]
        var work: Task<Void, Never>?
        var arrived: Loaded<Entry>?
        var result: Result<Loaded<Entry>, any Error>?
        var isAbandoned = false

        /// Frees a seat.
        mutating func leave(_ seat: UInt64) -> Seat? {
            guard let taken = seats.removeValue(forKey: seat) else { return nil }
            if seats.isEmpty, arrived == nil, result == nil { isAbandoned = true }
            return taken
        }
    }

    let trail = Trail.Recorder()
    private let alarms: Alarms
    private let ended: @Sendable (Flight) -> Void
    private let state = Locked(State())

    /// - Parameter ended: told when nobody may join any more.
    init(_ alarms: Alarms, ended: @escaping @Sendable (Flight) -> Void) {
        self.alarms = alarms
        self.ended = ended
    }

    // MARK: The call

    /// The task that makes the call.
    func launched(_ work: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.work = work
            return state.isAbandoned
        }
        if isAbandoned { work.cancel() }
    }

    /// The answer is there, and saving it begins: nobody has to wait for that longer than for the answer.
    func arrived(_ loaded: Loaded<Entry>) {
        state.withLock { $0.arrived = loaded }
    }

    /// The call is over: everybody aboard is told.
    func land(_ result: Result<Loaded<Entry>, any Error>) {
        ended(self)
        let seats = state.withLock { state in
            state.result = result
            state.work = nil
            defer { state.seats = state.seats.filter { if case .idle = $0.value { true } else { false } } }
            return state.seats
        }
        alarms.cancel(seats.values.lazy.compactMap(\.alarm))
        for (_, seat) in seats.sorted(by: { $0.key < $1.key }) { seat.waiter?.resume(returning: .answered) }
    }

    /// The call's answer, and whether the call is over; nil while there is no answer.
    var answer: (result: Result<Loaded<Entry>, any Error>, isOver: Bool)? {
        state.withLock { state in
            state.result.map { ($0, true) } ?? state.arrived.map { (.success($0), false) }
        }
    }

    /// The task that saves an answer that has arrived; nil when none is being saved.
    var saving: Task<Void, Never>? { state.withLock { $0.arrived == nil ? nil : $0.work } }

    // MARK: Seats

    /// Takes a seat, unless the call was given up.
    func take(_ seat: UInt64) -> Bool {
        state.withLock { state in
            if !state.isAbandoned { state.seats[seat] = .idle(isWoken: false) }
            return !state.isAbandoned
        }
    }

    /// Waits for the call, at most so long; for ever if `limit` is nil. The seat is kept when the time is over.
    ///
    /// - Parameter isLast: whether the time of whoever waits is over then, so that an answer is taken that is still being
    ///   saved.
    func wait(_ seat: UInt64, within limit: Duration?, isLast: Bool = true) async -> Ending {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if let ending = sit(seat, waiter, within: limit, isLast) { waiter.resume(returning: ending) }
            }
        } onCancel: {
            leave(seat)
        }
    }

    /// Lets `waiter` wait, unless there is nothing to wait for any more.
    private func sit(_ seat: UInt64, _ waiter: Waiter, within limit: Duration?, _ isLast: Bool) -> Ending? {
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
        let alarm = alarms.set(after: limit) { [weak self] in self?.overrun(seat, isLast) }
        let isNeeded = state.withLock { state -> Bool in
            guard case .waiting(let waiter, nil) = state.seats[seat] else { return false }
            state.seats[seat] = .waiting(waiter, alarm: alarm)
            return true
        }
        if !isNeeded { alarms.cancel([alarm]) }
        return nil
    }

    private func overrun(_ seat: UInt64, _ isLast: Bool) {
        let (waiter, hasArrived) = state.withLock { state -> (Waiter?, Bool) in
            guard case .waiting(let waiter, _) = state.seats[seat] else { return (nil, false) }
            state.seats[seat] = .idle(isWoken: false)
            return (waiter, state.arrived != nil)
        }
        waiter?.resume(returning: isLast && hasArrived ? .answered : .overran)
    }

    /// Ends the wait in a seat, or the next one: something else has come that its owner looks for.
    func wake(_ seat: UInt64) {
        let (woken, ending) = state.withLock { state -> (Seat?, Ending) in
            let taken = state.seats[seat]
            switch taken {
            case .idle: state.seats[seat] = .idle(isWoken: true)
            case .waiting: state.seats[seat] = .idle(isWoken: false)
            case .lingering, nil: return (nil, .overran)
            }
            return (taken, state.arrived == nil ? .overran : .answered)
        }
        if let alarm = woken?.alarm { alarms.cancel([alarm]) }
        woken?.waiter?.resume(returning: ending)
    }

    /// Gives up a seat. Who waits in it is told.
    func leave(_ seat: UInt64) {
        let (left, abandoned) = state.withLock { state -> (Seat?, Task<Void, Never>??) in
            let left = state.leave(seat)
            return (left, left != nil && state.isAbandoned ? .some(state.work) : nil)
        }
        if let alarm = left?.alarm { alarms.cancel([alarm]) }
        if let abandoned {
            ended(self)
            abandoned?.cancel()
        }
        left?.waiter?.resume(returning: .left)
    }

    /// Gives up a seat in which nobody will wait, unless the call is to go on for it.
    func letGo(_ seat: UInt64) {
        let isLingering = state.withLock { if case .lingering = $0.seats[seat] { true } else { false } }
        if !isLingering { leave(seat) }
    }

    /// Keeps the seat for a while, though nobody waits in it.
    func linger(_ seat: UInt64, for time: Duration) {
        let alarm = alarms.set(after: time) { [weak self] in self?.leave(seat) }
        let isKept = state.withLock { state -> Bool in
            guard state.seats[seat] != nil, state.result == nil else { return false }
            state.seats[seat] = .lingering(alarm: alarm)
            return true
        }
        if !isKept {
            alarms.cancel([alarm])
            leave(seat)
        }
    }
}
