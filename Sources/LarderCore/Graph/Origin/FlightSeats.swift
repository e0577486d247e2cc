import LarderSystem

/// The seat of a caller in a flight.
enum FlightSeat: Sendable {
    /// A caller that waits.
    struct Waiter: Sendable {
        let task: Suspension<Flight.Ending>
        /// Whether the wait ends when the device loses its network.
        let endsOffline: Bool

        func resume(returning ending: Flight.Ending) { task.resume(returning: ending) }
    }

    /// The caller does not wait at present. `isWoken` ends its next wait at once.
    case idle(isWoken: Bool)
    case waiting(Waiter, alarm: Alarm?)
    /// The caller has gone, and the call goes on until the alarm.
    case lingering(alarm: Alarm, ended: @Sendable (LateEnding) -> Void)

    var alarm: Alarm? {
        switch self {
        case .idle: nil
        case .waiting(_, let alarm): alarm
        case .lingering(let alarm, _): alarm
        }
    }

    /// Tells a caller that has gone how the call ended.
    func tell(_ ending: LateEnding) { if case .lingering(_, let ended) = self { ended(ending) } }

    var waiter: Waiter? { if case .waiting(let waiter, _) = self { waiter } else { nil } }

    fileprivate var isIdle: Bool { if case .idle = self { true } else { false } }
}

/// The seats of a flight by their numbers, which rise. Most flights have one seat, so the first needs no dictionary.
struct FlightSeats: Sendable {
    private var first: (number: UInt64, seat: FlightSeat)?
    private var others: [UInt64: FlightSeat] = [:]

    var isEmpty: Bool { first == nil && others.isEmpty }

    subscript(number: UInt64) -> FlightSeat? {
        get {
            if let first, first.number == number { return first.seat }
            return others.isEmpty ? nil : others[number]
        }
        set {
            if first?.number == number || isEmpty {
                first = newValue.map { (number, $0) }
            } else {
                others[number] = newValue
            }
        }
    }

    /// Empties a seat, and returns what it was.
    mutating func remove(_ number: UInt64) -> FlightSeat? {
        let seat = self[number]
        if seat != nil { self[number] = nil }
        return seat
    }

    /// Makes the seats idle whose waits end when the device loses its network, and returns what they were, in the order of
    /// their numbers.
    mutating func endOfflineWaits() -> [FlightSeat] {
        let numbers = ([first?.number].compactMap(\.self) + others.keys.sorted())
            .filter { self[$0]?.waiter?.endsOffline == true }
        return numbers.compactMap { number in
            let seat = self[number]
            self[number] = .idle(isWoken: false)
            return seat
        }
    }

    /// Empties the seats that are not idle, and returns them in the order of their numbers.
    mutating func removeBusy() -> (first: FlightSeat?, others: [FlightSeat]) {
        var busy: (first: FlightSeat?, others: [FlightSeat]) = (nil, [])
        if let taken = first?.seat, !taken.isIdle {
            busy.first = taken
            first = nil
        }
        if !others.isEmpty {
            busy.others = others.filter { !$0.value.isIdle }.sorted { $0.key < $1.key }.map(\.value)
            others = others.filter { $0.value.isIdle }
        }
        return busy
    }
}
