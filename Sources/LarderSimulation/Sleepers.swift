import Larder

/// Those who sleep in a world. A heap: thousands may sleep at a time, and most are cancelled long before they wake.
struct Sleepers {
    typealias Continuation = CheckedContinuation<Void, any Error>

    private struct Alarm {
        var until: Duration
        var number: UInt64

        /// The earlier first; of those of one time, the one that began first.
        static func < (one: Alarm, other: Alarm) -> Bool {
            one.until == other.until ? one.number < other.number : one.until < other.until
        }
    }

    /// Each alarm is before both of those at twice its place. Those of sleepers that were taken stay for a while.
    private var alarms: [Alarm] = []
    private var asleep: [UInt64: (until: Duration, continuation: Continuation)] = [:]

    /// Until when each sleeps, the earliest first.
    var ends: [Duration] { asleep.values.map(\.until).sorted() }

    mutating func add(_ number: UInt64, until: Duration, _ continuation: Continuation) {
        asleep[number] = (until, continuation)
        // Whoever sleeps forever waits to be cancelled, not for the end of time.
        if until < .forever { push(Alarm(until: until, number: number)) }
    }

    /// Takes out a sleeper; nil if there is none of this number.
    mutating func take(_ number: UInt64) -> Continuation? {
        guard let sleeper = asleep.removeValue(forKey: number) else { return nil }
        if alarms.count > 2 * asleep.count + 64 {
            let kept = alarms.filter { asleep[$0.number] != nil }
            alarms = []
            for alarm in kept { push(alarm) }
        }
        return sleeper.continuation
    }

    /// Takes out the one who wakes next; nil when nobody wakes by `limit`.
    mutating func takeNext(by limit: Duration) -> (until: Duration, continuation: Continuation)? {
        while let next = alarms.first, next.until <= limit, let alarm = pop() {
            if let sleeper = asleep.removeValue(forKey: alarm.number) { return sleeper }
        }
        return nil
    }

    mutating func takeAll() -> [Continuation] {
        defer {
            alarms = []
            asleep = [:]
        }
        return asleep.sorted { $0.key < $1.key }.map(\.value.continuation)
    }

    private mutating func push(_ alarm: Alarm) {
        alarms.append(alarm)
        var place = alarms.count - 1
        while place > 0, alarms[place] < alarms[(place - 1) / 2] {
            alarms.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func pop() -> Alarm? {
        guard let first = alarms.first, let last = alarms.popLast() else { return nil }
        if alarms.isEmpty { return first }
        alarms[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < alarms.count && alarms[child] < alarms[least] {
                least = child
            }
            if least == place { return first }
            alarms.swapAt(place, least)
            place = least
        }
    }
}
