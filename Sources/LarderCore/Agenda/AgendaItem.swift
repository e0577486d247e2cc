import LarderSystem

/// The place of a section's work on the agenda of its pantry.
///
/// The work runs under its conditions, beside at most one other section's work of the pantry. It ends with the section:
/// when its policy is replaced by one without it, and when the pantry is closed.
///
/// ```swift
/// item = AgendaItem(in: context)
/// item.begin(self)
/// ```
public final class AgendaItem: Sendable {
    private struct State {
        var work: (any AgendaWork)?
        /// The run that somebody waits for.
        var run: AwaitableWork<Void>?
        /// Whether the next run was asked for, and need not wait for its time.
        var isAsked = false
        var isRunning = false
        var isOver = false
        var runs = 0
    }

    private let context: SectionContext
    private let state = Locked(State())

    /// Creates an item without work. A context outside a pantry has no agenda: its work never runs.
    public init(in context: SectionContext) { self.context = context }

    private var owner: (any AgendaOwner)? { context.pantry as? any AgendaOwner }

    /// Puts work on the agenda. It runs when the policy is in effect. Where ``SectionContext/allowsBackgroundWork`` is false, it
    /// runs only when ``runNow()`` asks for it. An item takes one piece of work.
    public func begin(_ work: any AgendaWork) {
        let isNew = state.withLock { state in
            if state.isOver || state.work != nil { return false }
            state.work = work
            return true
        }
        guard isNew, let agenda = owner?.agenda else { return }
        context.end.add { [weak self] in self?.cancel() }
        agenda.add(self)
    }

    /// Whether there is work that has not ended.
    public var isActive: Bool { state.withLock { $0.work != nil && !$0.isOver } }

    /// Whether the work is running.
    public var isRunning: Bool { state.withLock { $0.isRunning } }

    /// The first condition of the work that is not met now; nil if all are.
    public var unmet: AgendaConditions.Unmet? {
        guard let work = state.withLock({ $0.work }), let owner else { return nil }
        return work.conditions.unmet(on: owner.agenda.device, by: owner.agendaResource(context.resource))
    }

    /// Asks the work for its next step again, because something has changed that the agenda does not know.
    public func changed() { owner?.agenda.call(self) }

    /// Runs the work although its time has not come, and waits for its end. If it is running already, waits for that run.
    /// If the caller's task is cancelled, returns at once, and cancels the run unless others wait for it.
    ///
    /// - Returns: whether the work ran to its end. It does not if a condition is not met, or if the work is over.
    public func runNow() async -> Bool {
        guard let agenda = owner?.agenda else { return false }
        let run = state.withLock { state -> AwaitableWork<Void>? in
            if state.isOver || state.work == nil { return nil }
            if !state.isRunning { state.isAsked = true }
            // A wait that all have given up is over before its run is.
            if state.run == nil || state.run?.outcome != nil { state.run = AwaitableWork(in: context.world) }
            return state.run
        }
        guard let run else { return false }
        changed()
        do { return try await run.value() != nil } catch {
            // If nobody else waits, it has failed.
            let isGivenUp = state.withLock { $0.run === run } && run.hasFailed
            if Task.isCancelled, isGivenUp { agenda.interrupt(self) }
            return false
        }
    }

    /// Cancels the run that is under way. The work stays on the agenda.
    public func interrupt() { owner?.agenda.interrupt(self) }

    /// Takes the work off the agenda, and cancels the run that is under way.
    public func cancel() {
        if let agenda = owner?.agenda { agenda.cancel(self) } else { drop(where: nil).tell() }
    }

    /// Takes the work off the agenda, cancels the run that is under way, and waits for its end.
    public func end() async {
        let run = state.withLock { state -> AwaitableWork<Void>? in
            guard state.isRunning else { return nil }
            if state.run == nil || state.run?.outcome != nil { state.run = AwaitableWork(in: context.world) }
            return state.run
        }
        cancel()
        _ = try? await run?.value()
    }

    private func ended() {
        let (run, work) = state.withLock { state -> (AwaitableWork<Void>?, (any AgendaWork)?) in
            state.isRunning = false
            return (state.run.take(), state.isOver ? state.work.take() : nil)
        }
        withExtendedLifetime(work) {}
        run?.end(.success(()))
    }
}

extension AgendaItem: AgendaJob {
    var priority: Request.Priority { .low }
    var lane: AgendaLane { .sections }

    var needsChecks: Bool {
        guard let conditions = state.withLock({ $0.work })?.conditions else { return false }
        return conditions.isMetWhileCharging || conditions.needsAccount && unmet == .account
    }

    func isMet(by device: Device) -> Bool { unmet == nil }

    func next(isMet: Bool) -> AgendaJobStep {
        var refused: AwaitableWork<Void>?
        let (work, isAsked) = state.withLock { state -> ((any AgendaWork)?, Bool) in
            // Those who asked for the run may have given up.
            let isAsked = state.isAsked && state.run?.outcome == nil && isMet
            if state.isAsked, !isAsked { (state.isAsked, refused) = (false, state.run.take()) }
            return (state.isOver ? nil : state.work, isAsked)
        }
        refused?.end(.failure(CancellationError()))
        guard let work else { return .end }
        // The agenda asks again when other policies take effect.
        guard !isRunning, owner?.agendaResource(context.resource).isInEffect(context.surroundings.reloadState) == true
        else {
            return .rest
        }
        if isAsked { return run(work) }
        if !context.allowsBackgroundWork { return .rest }
        switch work.next(isMet: isMet) {
        case .run: return run(work)
        case .wait(let time): return .wait(time)
        case .waitForDevice: return .waitForDevice
        case .end:
            drop(where: nil).tell()
            return .end
        }
    }

    private func run(_ work: any AgendaWork) -> AgendaJobStep {
        let number = state.withLock { state -> Int? in
            if state.isOver { return nil }
            (state.isAsked, state.isRunning) = (false, true)
            state.runs += 1
            return state.runs
        }
        guard let number else { return .end }
        return .run(number) { [self] in
            await work.run()
            ended()
        }
    }

    /// Ends the work, if all of it is meant. A run belongs to no request.
    func drop(where isSelected: ((Request) -> Bool)?) -> AgendaDrop {
        if isSelected != nil { return AgendaDrop() }
        let (steps, run, work) = state.withLock { state -> ([Int], AwaitableWork<Void>?, (any AgendaWork)?) in
            state.isOver = true
            if state.isRunning { return ([state.runs], nil, nil) }
            return ([], state.run.take(), state.work.take())
        }
        return AgendaDrop(steps: steps) {
            withExtendedLifetime(work) {}
            run?.end(.failure(CancellationError()))
        }
    }
}

extension SectionContext {
    /// Puts work of this section on the agenda of its pantry: work that nobody waits for. See ``AgendaItem``.
    ///
    /// ```swift
    /// context.addWork(when: AgendaConditions(network: .wifi)) { await send() ? nil : .seconds(600) }
    /// ```
    ///
    /// - Parameters:
    ///   - conditions: the conditions under which the work may run. Until they are met, it waits.
    ///   - delay: the time until the first run.
    ///   - run: does the work. Returns the time after which it runs again, or nil if it is done.
    @discardableResult
    public func addWork(
        when conditions: AgendaConditions = AgendaConditions(), after delay: Duration = .zero,
        _ run: @escaping @Sendable () async -> Duration?
    ) -> AgendaItem {
        let item = AgendaItem(in: self)
        item.begin(RepeatedWork(conditions, after: delay, in: world, run))
        return item
    }
}

/// Work that runs, and perhaps again after a time.
private final class RepeatedWork: AgendaWork {
    let conditions: AgendaConditions
    private let world: any World
    private let work: @Sendable () async -> Duration?
    /// The uptime of the next run; nil if the work is done.
    private let time: Locked<Duration?>

    init(
        _ conditions: AgendaConditions, after delay: Duration, in world: any World,
        _ work: @escaping @Sendable () async -> Duration?
    ) {
        (self.conditions, self.world, self.work) = (conditions, world, work)
        time = Locked(world.uptime + delay)
    }

    func next(isMet: Bool) -> AgendaStep {
        guard let time = time.withLock({ $0 }) else { return .end }
        if time > world.uptime { return .wait(time - world.uptime) }
        return isMet ? .run : .waitForDevice
    }

    func run() async {
        let pause = await work()
        time.withLock { $0 = pause.map { world.uptime + $0 } }
    }
}

extension AwaitableWork {
    /// Whether it has ended with an error.
    fileprivate var hasFailed: Bool { if case .failure? = outcome { true } else { false } }
}
