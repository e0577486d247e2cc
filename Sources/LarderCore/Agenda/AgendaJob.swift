import LarderSystem

/// A job on the agenda. It gives its work step by step.
///
/// Its methods are called from any thread, and never while the agenda holds a lock.
protocol AgendaJob: AnyObject, Sendable {
    /// The urgency of its steps. It does not change.
    var priority: Request.Priority { get }
    /// The places that its steps take.
    var lane: AgendaLane { get }
    /// Whether it waits for something of which nobody tells: the power or an account.
    var needsChecks: Bool { get }

    /// Returns whether the device allows a step now.
    func isMet(by device: Device) -> Bool

    /// Returns the next step. It is called by one thread at a time.
    func next(isMet: Bool) -> AgendaJobStep

    /// Gives up the steps for the selected requests, or the whole job if `isSelected` is nil.
    func drop(where isSelected: ((Request) -> Bool)?) -> AgendaDrop
}

extension AgendaJob {
    var lane: AgendaLane { .loads }
    var needsChecks: Bool { false }
}

/// The next step of a job.
enum AgendaJobStep: Sendable {
    /// This work begins, and the job is asked again at once. The number identifies the step.
    case run(Int, @Sendable () async -> Void)
    /// The job is asked again after this time, or earlier if something changes.
    case wait(Duration)
    /// The job is asked again when the device may have changed.
    case waitForDevice
    /// The job is asked again when one of its steps ends, or when it is added again.
    case rest
    /// The job has no further steps.
    case end
}

/// The steps that a job has given up.
struct AgendaDrop: Sendable {
    /// The steps under way, whose tasks are to be cancelled.
    var steps: [Int] = []
    /// Tells those who wait. It is called once, after the tasks were cancelled.
    var tell: @Sendable () -> Void = {}
}

/// Steps that share a number of places.
enum AgendaLane: Hashable, Sendable, CaseIterable {
    /// Loads of the pantry's own: refreshes, prefetches and downloads.
    case loads
    /// The work of sections. With one place more than one, work that hangs does not hold up all other.
    case sections

    /// The number of steps that run at the same time.
    var places: Int {
        switch self {
        case .loads: 4
        case .sections: 2
        }
    }
}

/// Jobs in the order in which they are asked: the most urgent first, and of these the earliest.
struct AgendaLine {
    struct Place: Comparable {
        let priority: Request.Priority
        let number: Int
        let job: ObjectIdentifier

        static func < (left: Place, right: Place) -> Bool {
            (right.priority, left.number) < (left.priority, right.number)
        }
    }

    private var places: [Place] = []

    var isEmpty: Bool { places.isEmpty }

    mutating func insert(_ place: Place) {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        places.insert(place, at: low)
    }

    mutating func popFirst() -> Place? { places.isEmpty ? nil : places.removeFirst() }
}
