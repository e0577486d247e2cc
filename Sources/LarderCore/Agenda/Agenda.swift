import LarderSystem

/// The work of a pantry that nobody waits for: refreshes, prefetches, downloads and the work of sections.
///
/// It asks its jobs for their next steps, the most urgent job first, and runs a few steps at a time. A job that must wait
/// is asked again when its time has come, when the device has changed, or when it is added again.
final class Agenda: Sendable {
    private struct Entry {
        enum Stage {
            case inLine
            case asked
            case resting(Alarm?)
        }

        let job: any AgendaJob
        let number: Int
        var stage = Stage.inLine
        /// The number of reasons to ask it so far. A reason that comes while it is asked is not lost.
        var reasons = 0
        /// The tasks of its steps. A task is nil for a moment while it begins.
        var steps: [Int: Task<Void, Never>?] = [:]

        var place: AgendaLine.Place {
            AgendaLine.Place(priority: job.priority, number: number, job: ObjectIdentifier(job))
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var lines: [AgendaLane: AgendaLine] = [:]
        var running: [AgendaLane: Int] = [:]
        var last = 0
        var isAsking = false
        var isClosed = false

        /// Puts a job in line that has a reason to be asked. Returns its alarm.
        mutating func call(_ id: ObjectIdentifier) -> Alarm? {
            guard var entry = entries[id] else { return nil }
            entry.reasons += 1
            defer { entries[id] = entry }
            guard case .resting(let alarm) = entry.stage else { return nil }
            entry.stage = .inLine
            lines[entry.job.lane, default: AgendaLine()].insert(entry.place)
            return alarm
        }

        /// Whether a job is in line, and there is a place for its step.
        func hasNext(in lane: AgendaLane) -> Bool {
            running[lane, default: 0] < lane.places && lines[lane]?.isEmpty == false
        }

        /// Takes the next job out of the lines for whose steps there are places.
        mutating func next() -> Entry? {
            for lane in AgendaLane.allCases {
                while hasNext(in: lane), let place = lines[lane]?.popFirst() {
                    guard entries[place.job]?.number == place.number else { continue }
                    entries[place.job]?.stage = .asked
                    return entries[place.job]
                }
            }
            isAsking = false
            return nil
        }

        /// Ends the question to a job. Returns whether the job may do as it answered: it has no new reason to be asked.
        mutating func answered(_ asked: Entry, _ stage: Entry.Stage) -> Bool {
            guard var entry = entries[asked.place.job], entry.number == asked.number else { return false }
            let isCurrent = entry.reasons == asked.reasons
            entry.stage = isCurrent ? stage : .inLine
            entries[asked.place.job] = entry
            if case .inLine = entry.stage { lines[entry.job.lane, default: AgendaLine()].insert(entry.place) }
            return isCurrent
        }
    }

    let device: Device
    let world: any World
    private let state = Locked(State())

    init(in world: any World, on device: Device) { (self.world, self.device) = (world, device) }

    deinit { close() }

    // MARK: Adding and cancelling

    /// Adds a job, or asks it again if it is there. If the agenda is closed, the job is dropped at once.
    func add(_ job: any AgendaJob) {
        let id = ObjectIdentifier(job)
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            if state.entries[id] != nil { return false }
            state.last += 1
            let entry = Entry(job: job, number: state.last)
            state.entries[id] = entry
            state.lines[job.lane, default: AgendaLine()].insert(entry.place)
            return false
        }
        if isClosed { return job.drop(where: nil).tell() }
        call(job)
    }

    /// Asks a job again if it is there.
    func call(_ job: any AgendaJob) {
        state.withLock { $0.call(ObjectIdentifier(job)) }?.cancel()
        ask()
    }

    /// Asks all jobs again, because the device or the policies may have changed.
    func deviceChanged() {
        let alarms = state.withLock { state in state.entries.keys.compactMap { state.call($0) } }
        for alarm in alarms { alarm.cancel() }
        ask()
    }

    /// Cancels the steps of a job for the selected requests, or the whole job if `isSelected` is nil.
    func cancel(_ job: any AgendaJob, where isSelected: ((Request) -> Bool)? = nil) {
        stop(job.drop(where: isSelected), of: job)
    }

    /// Cancels the steps of all jobs for the selected requests.
    func cancel(where isSelected: @escaping (Request) -> Bool) { for job in jobs { cancel(job, where: isSelected) } }

    /// Returns a function that cancels these jobs. It keeps nothing alive.
    func cancelling(_ jobs: [FetchJob]) -> @Sendable () -> Void {
        let actions = jobs.map { job in { @Sendable [weak self, weak job] in if let job { self?.cancel(job) } } }
        return { for action in actions { action() } }
    }

    /// Lets the jobs that must wait look at an instance that is cached now.
    func fetched(_ request: Request, by job: FetchJob) {
        for case let other as FetchJob in jobs where other !== job && other.resource.name == job.resource.name {
            if !other.isMet(by: device), other.look(at: request) { call(other) }
        }
    }

    /// Cancels the tasks of steps that a job has given up, and tells those who wait.
    func stop(_ drop: AgendaDrop, of job: any AgendaJob) {
        let tasks = state.withLock { state in
            drop.steps.compactMap { state.entries[ObjectIdentifier(job)]?.steps.removeValue(forKey: $0) }
        }
        for task in tasks { task?.cancel() }
        drop.tell()
        call(job)
    }

    /// Cancels the tasks of a job's steps. The job goes on afterwards.
    func interrupt(_ job: any AgendaJob) {
        let tasks = state.withLock { $0.entries[ObjectIdentifier(job)].map { Array($0.steps.values) } ?? [] }
        for task in tasks { task?.cancel() }
    }

    /// Cancels everything. Later jobs are dropped when they are added.
    func close() {
        state.withLock { $0.isClosed = true }
        for job in jobs { cancel(job) }
        let left = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.entries.values.map { $0 }
        }
        for entry in left { if case .resting(let alarm) = entry.stage { alarm?.cancel() } }
    }

    private var jobs: [any AgendaJob] {
        state.withLock { $0.entries.values.sorted { $0.number < $1.number }.map(\.job) }
    }

    // MARK: Asking

    /// Asks the jobs in line, unless that is under way, in a task because rules of sections and accounts are code of others.
    private func ask() {
        let isNeeded = state.withLock { state in
            if state.isAsking || state.isClosed { return false }
            state.isAsking = AgendaLane.allCases.contains { state.hasNext(in: $0) }
            return state.isAsking
        }
        guard isNeeded else { return }
        world.spawn { [weak self] in
            while let self, let entry = state.withLock({ $0.next() }) {
                answer(entry, entry.job.next(isMet: entry.job.isMet(by: device)))
            }
        }
    }

    private func answer(_ entry: Entry, _ step: AgendaJobStep) {
        switch step {
        case .run(let number, let work): run(number, of: entry, work)
        case .wait(let time):
            let alarm = world.alarm(after: time) { [weak self, weak job = entry.job] in if let job { self?.call(job) } }
            if !state.withLock({ $0.answered(entry, .resting(alarm)) }) { alarm.cancel() }
        case .waitForDevice:
            if entry.job.needsChecks { device.checkLater() }
            device.watch()
            rest(entry)
        case .rest: rest(entry)
        case .end:
            let ended = state.withLock { state in
                state.answered(entry, .resting(nil)) ? state.entries.removeValue(forKey: entry.place.job) : nil
            }
            withExtendedLifetime(ended) {}
        }
    }

    private func rest(_ entry: Entry) { _ = state.withLock { $0.answered(entry, .resting(nil)) } }

    private func run(_ number: Int, of entry: Entry, _ work: @escaping @Sendable () async -> Void) {
        let (id, lane) = (entry.place.job, entry.job.lane)
        state.withLock { state in
            state.running[lane, default: 0] += 1
            if state.entries[id]?.number == entry.number { state.entries[id]?.steps[number] = .some(nil) }
            _ = state.answered(entry, .inLine)
        }
        // A step does not keep the agenda alive.
        let task = world.spawn { [weak self] in
            await work()
            self?.ended(number, of: id, in: lane)
        }
        let isWanted = state.withLock { state in
            guard state.entries[id]?.steps[number] != nil else { return false }
            state.entries[id]?.steps[number] = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func ended(_ number: Int, of id: ObjectIdentifier, in lane: AgendaLane) {
        let (task, alarm) = state.withLock { state in
            state.running[lane, default: 0] -= 1
            return (state.entries[id]?.steps.removeValue(forKey: number), state.call(id))
        }
        withExtendedLifetime(task) {}
        alarm?.cancel()
        ask()
    }
}
