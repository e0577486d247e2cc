public import LarderSystem
public import LarderCore

/// Refreshes a resource again and again: the section `refresh` of a policy.
///
/// Each run asks the origin for each request of the section, one after the other, with the mode
/// ``Request/Mode-swift.enum/refresh``. The purpose is ``Request/Purpose-swift.enum/prefetch``, because no user waits for the
/// value: the loads are part of no rate.
///
/// `pantry.attachment(RefreshSchedule.self, of: "feed")` tells when the next run is due.
public final class RefreshSchedule: DueWork {
    /// A run that is under way. All who ask for it wait for the same one.
    private struct Run {
        let task: Task<Void, Never>
        let result: Locked<DueResult>
    }

    private struct State {
        var timer: RefreshTimer
        var alarm: Alarm?
        var listening: Subscription?
        var run: Run?
        var isClosed = false
    }

    /// The longest time of a run.
    private static let longestRun = Duration.seconds(600)
    /// The time until the first look at the clock. By then, the policy is in effect.
    private static let startDelay = Duration.seconds(2)
    /// The time after which a schedule without an account looks again, because nobody tells it of a sign-in.
    private static let accountInterval = Duration.seconds(60)

    private let file: RefreshPlanFile
    private let condition: NetworkCondition
    private let requests: [Parameters]
    private let turns: RefreshTurns
    private let context: Context
    private let state: Locked<State>

    private var world: any World { context.world }

    /// Whether a run has to wait until somebody signs in.
    private var lacksAccount: Bool { (try? context.ownResource?.lacksAccount) ?? false }

    /// Whether a run may begin in the present network. A run loads with the purpose of a prefetch, so the policy must permit
    /// both.
    private var isMet: Bool {
        guard condition.isMet(by: world.network) else { return false }
        guard let resource = context.ownResource else { return true }
        return (try? resource.permits(.refresh) && resource.permits(.prefetch)) ?? true
    }

    /// Creates a schedule and starts it. Blocks.
    init(
        _ file: RefreshPlanFile, when condition: NetworkCondition, requests: [Parameters], turns: RefreshTurns,
        _ context: Context
    ) {
        (self.file, self.condition, self.requests) = (file, condition, requests)
        (self.turns, self.context) = (turns, context)
        let (now, uptime) = (context.world.now, context.world.uptime)
        let plan =
            context.allowsDueWork
            ? file.open(at: now, context.world.chance()) : RefreshPlan(next: Timestamp(nanoseconds: .max))
        state = Locked(State(timer: RefreshTimer(file.times, plan, at: now, uptime: uptime)))
        if !context.allowsDueWork { state.withLock { $0.isClosed = true } }
        guard context.allowsBackgroundWork else { return }
        let alarm = context.world.alarm(after: Self.startDelay) { [weak self] in self?.look() }
        state.withLock { $0.alarm = alarm }
        // Outside the lock, because a source of the app may call back at once.
        let listening = context.world.onNetworkChange { [weak self] in self?.look() }
        state.withLock { $0.listening = listening }
    }

    deinit { state.withLock { $0.alarm }?.cancel() }

    /// The time at which the next run is due, or was due if it has not begun.
    public var nextDue: Timestamp? { state.withLock { $0.isClosed ? nil : $0.timer.plan.next } }

    /// Runs the refresh if it is due and the network is as the policy wants it.
    public func runDue() async -> DueResult {
        let (isMet, lacksAccount) = (isMet, lacksAccount)
        let (run, result) = state.withLock { state -> (Run?, DueResult) in
            if let run = state.run { return (run, .unfinished) }
            guard !state.isClosed, isDue(state) else { return (nil, .notDue) }
            if lacksAccount { return (nil, .waitingForAccount) }
            return isMet ? (begin(&state), .unfinished) : (nil, .waiting("for the network '\(condition.rawValue)'"))
        }
        guard let run else { return result }
        await withTaskCancellationHandler {
            await run.task.value
        } onCancel: {
            run.task.cancel()
        }
        return run.result.withLock { $0 }
    }

    /// Cancels a run that loads for an account that has just been signed out.
    public func cleared(_ selection: Selection) async {
        switch selection {
        case .key, .tag: return
        default: state.withLock { $0.run }?.task.cancel()
        }
    }

    /// Ends the schedule.
    public func close() async {
        let (listening, run) = state.withLock { state -> (Subscription?, Run?) in
            state.isClosed = true
            state.alarm?.cancel()
            return (state.listening.take(), state.run)
        }
        listening?.stop()
        run?.task.cancel()
        await run?.task.value
    }

    // MARK: Waiting

    /// Looks at the clocks and the network, and starts a run or sets an alarm.
    private func look() {
        let (isMet, lacksAccount) = (isMet, lacksAccount)
        state.withLock { state in
            if state.isClosed || state.run != nil || !context.allowsBackgroundWork { return }
            state.alarm?.cancel()
            state.alarm = nil
            let isMet = isMet && !lacksAccount
            switch state.timer.step(at: world.now, uptime: world.uptime, isMet: isMet, chance: world.chance) {
            case .run: begin(&state)
            case .waitForNetwork where lacksAccount:
                state.alarm = world.alarm(after: Self.accountInterval) { [weak self] in self?.look() }
            case .wait(let time): state.alarm = world.alarm(after: time) { [weak self] in self?.look() }
            case .waitForNetwork: break
            }
        }
    }

    private func isDue(_ state: State) -> Bool {
        state.timer.lateness(at: world.now, uptime: world.uptime) >= .zero
    }

    // MARK: Running

    @discardableResult
    private func begin(_ state: inout State) -> Run {
        state.alarm?.cancel()
        let result = Locked(DueResult.unfinished)
        let task = world.spawn { [self] in
            let ended = await turns.run { await refresh() }
            result.withLock { $0 = ended ?? .unfinished }
            self.state.withLock { $0.run = nil }
            look()
        }
        let run = Run(task: task, result: result)
        state.run = run
        return run
    }

    /// Claims the run and does it. Every run that is claimed is counted as run or as missed.
    private func refresh() async -> DueResult {
        let claim = try? await world.blocking { [self] in claimRun() }
        guard case .own(let next, let missed)? = claim else {
            if case .taken(let plan)? = claim { follow(plan) }
            return .notDue
        }
        follow(next)
        let loads = AwaitableWork(in: world) { [self] in await loadAll() }
        let result = try? await loads.value(within: min(file.times.every, Self.longestRun))
        if result == nil { loads.cancel() }
        count(result ?? .unfinished, missed: missed)
        return result ?? .unfinished
    }

    private func claimRun() -> RefreshPlanFile.Claim {
        let (plan, lateness) = state.withLock { state in
            (state.timer.plan, state.timer.lateness(at: world.now, uptime: world.uptime))
        }
        return file.claim(plan, at: world.now, late: lateness, world.chance())
    }

    private func follow(_ plan: RefreshPlan) {
        state.withLock { $0.timer.follow(plan, at: world.now, uptime: world.uptime) }
    }

    /// Loads all requests.
    private func loadAll() async -> DueResult {
        var failures: [String] = []
        for parameters in requests {
            guard !Task.isCancelled, isMet, let resource = context.ownResource else {
                return .unfinished
            }
            do {
                let loaded = try await resource.load(
                    parameters, mode: .refresh, priority: .low, purpose: .prefetch)
                if loaded.fellBack { failures.append("the origin failed, and a copy was left") }
            } catch let error as LoadError {
                // Without an account or a policy, there was no call.
                if error.code == .notSignedIn { return .waitingForAccount }
                if error.code == .noSuchResource { return .unfinished }
                failures.append("\(error)")
            } catch {
                return .unfinished
            }
        }
        guard let first = failures.first else { return .ran }
        return .failed(requests.count == 1 ? first : "\(failures.count) of \(requests.count) requests; first: \(first)")
    }

    private func count(_ result: DueResult, missed: UInt64) {
        let isMissed = result == .unfinished || result == .waitingForAccount
        context.count(.scheduledDue, missed + 1)
        if missed > 0 || isMissed { context.count(.scheduledMissed, missed + (isMissed ? 1 : 0)) }
        if isMissed { return }
        context.count(.scheduledRun)
        if case .failed(let reason) = result {
            context.count(.scheduledFailed)
            context.tell(.schedule, "the scheduled refresh failed: \(reason)")
        }
    }
}

extension DueResult {
    fileprivate static var waitingForAccount: DueResult { .waiting("for an account") }
}
