import LarderSystem

/// Instances of a resource that are fetched, and perhaps pinned, because somebody may want them later.
///
/// They begin in their order. After a failure that may pass, an instance is tried again twice.
final class FetchJob: AgendaJob {
    /// Is told of the end of each request, on any thread.
    typealias Observer = @Sendable (Request, FetchEnding) -> Void

    /// The part of a job that keeps instances on the device.
    struct Keeping: Sendable {
        /// The account of all its requests. While it is signed out, they wait.
        let account: KeptAccount
        /// Gives up the requests that another process has taken off the list.
        let followOthers: @Sendable () async -> Void
        /// Makes the pin of a copy right whose request was given up meanwhile.
        let settle: @Sendable (Request) async -> Void
    }

    private struct Trial {
        let request: Request
        /// The number of its step.
        var number = 0
        var tries = 0
        /// The uptime at which it begins.
        var time = Duration.zero
        var isCheck = false
    }

    private struct State {
        /// The requests that may have copies already, which need no network.
        var unchecked = RequestBacklog()
        var left: RequestBacklog
        /// The requests that have begun and are tried again, the next first.
        var again: [Trial] = []
        var running: [Int: Trial] = [:]
        var last = 0

        mutating func begin(_ trial: inout Trial) {
            last += 1
            trial.number = last
            running[last] = trial
        }

        /// Ends a step. Returns false if it was given up.
        mutating func end(_ trial: Trial) -> Bool { running.removeValue(forKey: trial.number) != nil }

        mutating func putBack(_ trial: Trial) {
            again.insert(trial, at: again.firstIndex { $0.time > trial.time } ?? again.endIndex)
        }
    }

    /// The number of requests that may be under way or wait for another try. The others wait as they came.
    static let capacity = 500
    /// The pauses after failures.
    private static let pauses: [Duration] = [.seconds(5), .seconds(30)]

    let resource: any FetchedResource
    let priority: Request.Priority
    private let conditions: AgendaConditions
    private let keeping: Keeping?
    private let device: Device
    private let world: any World
    /// Tells the agenda of an instance that is cached now.
    private let tellFetched: @Sendable (Request, FetchJob) -> Void
    private let observer: Observer
    private let state: Locked<State>

    init(
        _ requests: [Request], of resource: any FetchedResource, priority: Request.Priority,
        when conditions: AgendaConditions, keeping: Keeping? = nil, on agenda: Agenda,
        _ observer: @escaping Observer
    ) {
        (self.resource, self.priority, self.conditions) = (resource, priority, conditions)
        (self.keeping, self.device, self.world) = (keeping, agenda.device, agenda.world)
        self.observer = observer
        tellFetched = { [weak agenda] in agenda?.fetched($0, by: $1) }
        state = Locked(State(left: RequestBacklog(requests)))
    }

    /// Whether all requests have ended.
    var isOver: Bool { state.withLock { $0.running.isEmpty && Self.isIdle($0) } }

    /// The requests that have not ended.
    var requests: [Request] {
        state.withLock { state in
            (state.again + state.running.values).map(\.request) + state.unchecked.all + state.left.all
        }
    }

    private static func isIdle(_ state: State) -> Bool {
        state.again.isEmpty && state.left.isEmpty && state.unchecked.isEmpty
    }

    /// Begins anew with the lines of a list. Copies that are there are pinned and not fetched.
    func check(_ lines: [KeptRequests.Line]) {
        state.withLock { state in
            let running = Set(state.running.values.map { KeptRequests.line($0.request.asKept) })
            state.unchecked = RequestBacklog(lines: lines.filter { !running.contains($0) })
            (state.left, state.again) = (RequestBacklog(), [])
        }
    }

    /// Looks at the copy of an instance that another job has fetched, if the request for it waits.
    ///
    /// - Returns: whether it does.
    func look(at request: Request) -> Bool {
        state.withLock { state in state.left.move(request, to: &state.unchecked) }
    }

    // MARK: Steps

    var needsChecks: Bool {
        conditions.isMetWhileCharging || keeping.map { resource.isSignedOut($0.account.scope) } == true
    }

    func isMet(by device: Device) -> Bool {
        // Without a policy, the load tells the error.
        if resource.policyInEffect == nil { return true }
        if let keeping, resource.isSignedOut(keeping.account.scope) { return false }
        // An origin on the device needs no network.
        return resource.worksOffline
            || device.network.reach != .offline && conditions.unmet(on: device, by: resource) == nil
    }

    func next(isMet: Bool) -> AgendaJobStep {
        let uptime = world.uptime
        return state.withLock { state in
            var trial = state.unchecked.popFirst().map { Trial(request: $0, isCheck: true) }
            if trial == nil {
                if Self.isIdle(state) { return state.running.isEmpty ? .end : .rest }
                if !isMet { return .waitForDevice }
                if state.again.first.map({ $0.time <= uptime }) == true {
                    trial = state.again.removeFirst()
                } else if state.again.count + state.running.count < Self.capacity {
                    trial = state.left.popFirst().map { Trial(request: $0) }
                }
            }
            guard var trial else { return state.again.first.map { .wait($0.time - uptime) } ?? .rest }
            state.begin(&trial)
            return .run(trial.number) { [self, trial] in await run(trial) }
        }
    }

    func drop(where isSelected: ((Request) -> Bool)?) -> AgendaDrop {
        let (steps, requests) = state.withLock { state in
            let again = state.again.filter { isSelected?($0.request) ?? true }.map(\.request)
            if !again.isEmpty { state.again.removeAll { isSelected?($0.request) ?? true } }
            let running = state.running.filter { isSelected?($0.value.request) ?? true }.sorted { $0.key < $1.key }
            for (number, _) in running { state.running[number] = nil }
            let waiting = state.unchecked.remove(where: isSelected) + state.left.remove(where: isSelected)
            return (running.map(\.key), running.map(\.value.request) + again + waiting)
        }
        return AgendaDrop(steps: steps) { [observer] in for request in requests { observer(request, .cancelled) } }
    }

    // MARK: Running

    private func run(_ trial: Trial) async {
        await keeping?.followOthers()
        // It may have been given up before its task began, or now.
        if state.withLock({ $0.running[trial.number] == nil }) { return }
        if trial.isCheck { return await check(trial) }
        let policy = resource.policyInEffect
        var request = trial.request
        (request.mode, request.deadline, request.priority, request.purpose) = (.refresh, nil, priority, .prefetch)
        switch await resource.fetch(request, keepsScope: keeping != nil) {
        case .ended(.failed(let error)) where error.code == .notSignedIn && keeping != nil:
            await tryAgain(trial, after: error, since: policy)
        case .ended(let ending): await end(trial, ending, since: policy)
        case .again(let error): await tryAgain(trial, after: error, since: policy)
        case .cancelled: putBack(trial)
        }
    }

    /// Lets a request wait for another try. Does nothing if it was given up.
    private func putBack(_ trial: Trial) {
        state.withLock { state in if state.end(trial) { state.putBack(trial) } }
    }

    private func tryAgain(_ trial: Trial, after error: LoadError, since policy: AnyObject?) async {
        // A failure without a network or an account says nothing about the origin.
        if !isMet(by: device) { return putBack(trial) }
        guard trial.tries < Self.pauses.count else { return await end(trial, .failed(error), since: policy) }
        var trial = trial
        let pause = Self.pauses[trial.tries].scaled(by: 0.75 + world.chance() / 2)
        trial.time = world.uptime + max(error.retryAfter ?? .zero, pause)
        trial.tries += 1
        putBack(trial)
    }

    /// Ends a request. If its instance is to be kept, pins the copy first.
    ///
    /// - Parameter policy: the policy that was in effect when the try began.
    private func end(_ trial: Trial, _ ending: FetchEnding, since policy: AnyObject?) async {
        var ending = ending
        var isPinned = false
        if let keeping {
            // The call may have begun after another process took the instance off the list.
            await keeping.followOthers()
            if state.withLock({ $0.running[trial.number] == nil }) { return }
            do {
                isPinned = try await resource.pin(trial.request.asKept)
                switch ending {
                case .done where !isPinned: ending = .failed(.noRoomToKeep)
                case .failed where isPinned: ending = .done(bytes: 0)
                default: break
                }
            } catch {
                ending = .failed(LoadError(.failed, "the copy cannot be pinned: \(StoreError.reason(for: error))"))
            }
            // The answer, or the pin, may have gone to the store of the former policy.
            if let present = resource.policyInEffect, present !== policy {
                return putBack(Trial(request: trial.request, number: trial.number, isCheck: isPinned))
            }
        }
        await finish(trial, ending, isPinned: isPinned)
    }

    private func finish(_ trial: Trial, _ ending: FetchEnding, isPinned: Bool) async {
        if state.withLock({ $0.end(trial) }) {
            observer(trial.request, ending)
            if case .done = ending { tellFetched(trial.request, self) }
        } else if isPinned {
            // It was taken off the list meanwhile, and may be on it again.
            await keeping?.settle(trial.request.asKept)
        }
    }

    /// Ends a request if its copy is there, and pins the copy if it is to be kept. Or else lets it be fetched.
    private func check(_ trial: Trial) async {
        let policy = resource.policyInEffect
        let isThere =
            keeping == nil
            ? await resource.isFresh(trial.request) : (try? await resource.pin(trial.request.asKept)) == true
        let isPinned = isThere && keeping != nil
        if isThere, policy === resource.policyInEffect {
            return await finish(trial, .done(bytes: 0), isPinned: isPinned)
        }
        let isWanted = state.withLock { state in
            guard state.end(trial) else { return false }
            state.left.append(trial.request)
            return true
        }
        if isPinned, !isWanted { await keeping?.settle(trial.request.asKept) }
    }
}

extension LoadError {
    fileprivate static var noRoomToKeep: LoadError {
        LoadError(.failed, "the store keeps no further copy: it is full of pinned ones, or cannot hold this one")
    }
}
