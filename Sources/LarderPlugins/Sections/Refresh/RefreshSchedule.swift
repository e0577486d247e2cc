public import LarderSystem
public import LarderCore

/// Refreshes a resource again and again: the section `refresh` of a policy.
///
/// Each run asks the origin for each request of the section, one after the other, with the mode
/// ``Request/Mode-swift.enum/refresh``. The purpose is ``Request/Purpose-swift.enum/prefetch``, because no user waits for the
/// value: the loads are part of no rate.
///
/// `pantry.attachment(RefreshSchedule.self, of: "feed")` tells when the next run is due.
public final class RefreshSchedule: DueWork, AgendaWork {
    private struct State {
        var timer: RefreshTimer
        /// The result of the last run.
        var result = DueResult.unfinished
    }

    /// The longest time of a run.
    private static let longestRun = Duration.seconds(600)

    private let file: RefreshPlanFile
    private let requests: [Parameters]
    private let context: SectionContext
    private let item: AgendaItem
    private let state: Locked<State>
    /// The network, the rules of the policy and the account. A run loads with the purpose of a prefetch, so the policy must
    /// permit both.
    public let conditions: AgendaConditions

    private var world: any World { context.world }

    /// Creates a schedule and starts it. Blocks.
    init(_ file: RefreshPlanFile, when condition: NetworkCondition, requests: [Parameters], _ context: SectionContext) {
        (self.file, self.requests, self.context) = (file, requests, context)
        conditions = AgendaConditions(network: condition, permitted: [.refresh, .prefetch], needsAccount: true)
        item = AgendaItem(in: context)
        let (now, uptime) = (context.world.now, context.world.uptime)
        let plan =
            context.allowsDueWork
            ? file.open(at: now, context.world.chance()) : RefreshPlan(next: Timestamp(nanoseconds: .max))
        state = Locked(State(timer: RefreshTimer(file.times, plan, at: now, uptime: uptime)))
        if context.allowsDueWork { item.begin(self) }
    }

    /// The time at which the next run is due, or was due if it has not begun.
    public var nextDue: Timestamp? { item.isActive ? state.withLock { $0.timer.plan.next } : nil }

    /// Runs the refresh if it is due and the network is as the policy wants it.
    public func runDue() async -> DueResult {
        if !item.isRunning {
            let isDue = state.withLock { $0.timer.lateness(at: world.now, uptime: world.uptime) >= .zero }
            guard isDue, item.isActive else { return .notDue }
            switch item.unmet {
            case .account: return .waitingForAccount
            case .network: return .waiting("for the network '\(conditions.network.rawValue)'")
            case nil: break
            }
        }
        return await item.runNow() ? state.withLock { $0.result } : .unfinished
    }

    /// Cancels a run that loads for an account that has just been signed out.
    public func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        switch selection {
        case .key, .tag: return
        default: item.interrupt()
        }
    }

    /// Ends the schedule.
    public func close() async { await item.end() }

    /// Returns the next step: a run, or the time until it.
    public func next(isMet: Bool) -> AgendaStep {
        state.withLock { state in
            state.timer.step(at: world.now, uptime: world.uptime, isMet: isMet, chance: world.chance)
        }
    }

    /// Runs the refresh, unless another process has begun this run.
    public func run() async {
        let result = await refresh()
        state.withLock { $0.result = result }
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
            guard !Task.isCancelled, item.unmet != .network, let resource = context.ownResource else {
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
