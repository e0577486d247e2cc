import LarderSystem
public import Observation

/// An instance of a resource on a screen: its value, how fresh it is, and whether a load is under way or has failed.
///
/// ```swift
/// let videos = pantry.resource("feed", as: [Video].self).live()
///
/// switch videos.phase {
/// case .loading: showSpinner()
/// case .fresh(let videos, _): show(videos)
/// case .stale(let videos, let age, let isRefreshing): show(videos, label: age, spinner: isRefreshing)
/// case .empty: showPlaceholder()
/// case .failed(let error, let shown): show(shown?.value, banner: error)
/// case .offline(let shown): show(shown?.value, banner: "offline")
/// }
/// ```
///
/// It begins to load when it is made. It loads again when the screen calls ``reload()``, its policy changes or the
/// network returns. It also shows the answers that other loads get. It lives no longer than its owner keeps it: with
/// the last reference, it stops to listen, and nobody waits for its loads any more.
///
/// When the app clears the data of the request, for example with ``Pantry/clear(_:discardingUnsent:)`` at a logout, the
/// phase is ``Phase/empty`` before the first copy is removed. Answers of calls that began earlier are not shown. The screen
/// stays empty until it calls ``reload()`` or ``refresh()``.
///
/// Its request stays in the account for which it was made. When another account signs in, make another one.
///
/// All members may be used from any thread. Changes can be observed: they are made in the actor in which this was made,
/// with two exceptions: a clearing empties it at once on the thread that clears, and a value becomes stale as time passes.
/// An observer is called after the change. To show one consistent state, read ``phase`` once.
public final class LiveResource<Value: Sendable>: Observable, Sendable {
    private struct State {
        var screen: ScreenState<Value>
        var request: Request
        /// The loads that have not ended, by number.
        var loads: [Int: (task: Task<Void, Never>, end: AwaitableWork<Void>)] = [:]
        /// The alarm at the end of the value's freshness.
        var alarm: Alarm?
        var listening: [Subscription] = []
    }

    private let resource: Resource<Value>
    private let actor: (any Actor)?
    private let state: Locked<State>
    private let registrar = ObservationRegistrar()

    private var world: any World { resource.pantry.world }

    init(_ resource: Resource<Value>, _ request: Request, on actor: (any Actor)?) {
        self.resource = resource
        self.actor = actor
        let isOffline = resource.pantry.world.network.reach == .offline
        state = Locked(State(screen: ScreenState(for: request.key, isOffline: isOffline), request: request))
    }

    deinit {
        state.withLock { state in
            state.alarm?.cancel()
            for (_, load) in state.loads {
                load.task.cancel()
                load.end.end(.success(()))
            }
        }
    }

    // MARK: The phase

    /// The state of the screen now.
    public var phase: Phase {
        registrar.access(self, keyPath: \.phase)
        let now = world.now
        return state.withLock { $0.screen.phase(at: now) }
    }

    /// The value that is shown, whatever its freshness; nil if there is none.
    public var value: Value? { phase.value }

    /// The age of the value now; nil if there is none, or if its age is not known.
    public var age: Duration? {
        registrar.access(self, keyPath: \.phase)
        let now = world.now
        return state.withLock { $0.screen.age(at: now) }
    }

    /// Whether a spinner belongs on the screen: a load is under way, and nothing says that it cannot succeed.
    public var isLoading: Bool { phase.isLoading }

    /// The error of the last load; nil if it did not fail, another load is under way, or the device has no network.
    public var error: LoadError? { phase.error }

    /// Whether the device has no network.
    public var isOffline: Bool { phase.isOffline }

    /// A stream of the present phase and of each new one, for UIKit, AppKit and Combine. A slow reader misses phases that
    /// were replaced, never the latest. Each access returns a new stream, which ends with this object. A phase that
    /// shows nothing new may be left out.
    public var phases: AsyncStream<Phase> {
        let changes = changed.stream(most: 1, after: { [()] })
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            let task = world.spawn { [weak self] in
                var shown: PhaseLook?
                for await _ in changes {
                    guard let (look, phase) = self?.look else { break }
                    if look != shown { stream.yield(phase) }
                    shown = look
                }
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    private var look: (PhaseLook, Phase) {
        let now = world.now
        return state.withLock { state in
            let phase = state.screen.phase(at: now)
            return (PhaseLook(of: phase, values: state.screen.values, ends: state.screen.ends), phase)
        }
    }

    private let changed = Listeners<Void>()

    // MARK: Loading

    /// Asks the origin now, whatever the policy says, as pull-to-refresh does. Returns when the load has ended, and at once
    /// when the caller's task is cancelled. The load then goes on.
    public func refresh() async { await load(after: .refreshAsked) }

    /// Loads as the policy says, for a screen that appears again. Waits for the load that is under way, if there is one.
    /// Returns at once when the caller's task is cancelled. The load then goes on.
    public func reload() async { await load(after: .returned) }

    private func load(after event: ScreenState<Value>.Event) async {
        await take(event)
        guard let end = state.withLock({ state in state.screen.load.flatMap { state.loads[$0.number]?.end } }) else {
            return
        }
        _ = try? await end.value()
    }

    // MARK: Events

    /// Begins to listen and to load.
    func begin() {
        let name = resource.name
        let pantry = resource.pantry
        let clearings = pantry.clearingNotices.listen { [weak self] news in
            switch news {
            case .began(let notice) where notice.resource == nil || notice.resource == name:
                self?.apply(.clearingBegan(notice.number, notice.selection))
            case .ended(let notice): self?.apply(.clearingEnded(notice.number))
            case .began: break
            }
        }
        let policies = pantry.eventListeners.add { [weak self, world] event in
            guard case .reloaded(let changes) = event, changes.contains(where: { $0.resource == name }) else { return }
            world.spawn { [weak self] in await self?.take(.policyChanged) }
        }
        let saved = resource.resourceState.saved.stream(most: 1) { [weak self] saved in self?.isFor(saved) ?? false }
        let saving = world.spawn { [weak self] in
            for await saved in saved { await self?.show(saved) }
        }
        let network = pantry.device.add { [weak self] in self?.deviceChanged() }
        pantry.device.watch()
        state.withLock { state in
            state.listening = [
                clearings, policies, Subscription { saving.cancel() }, network,
            ]
        }
        apply(.returned)
        // The network may have changed before this listened.
        deviceChanged()
    }

    /// Takes the state of the network, as it is when the actor gets to it.
    private func deviceChanged() {
        world.spawn { [weak self, world] in
            await self?.take(world.network.reach == .offline ? .networkLost : .networkReturned)
        }
    }

    private func isFor(_ saved: SavedEntry) -> Bool {
        saved.answers(state.withLock { $0.request }) && resource.resourceState.isOfPresentSource(saved)
    }

    /// Shows the answer of another load.
    private func show(_ saved: SavedEntry) async {
        guard let graph = resource.resourceState.graph, resource.resourceState.isOfPresentSource(saved) else { return }
        let request = state.withLock { $0.request }
        let now = world.now
        let entry = saved.entry
        let loaded = Loaded(
            entry, age: entry.metadata.age(at: now), isStored: saved.isKept,
            permissions: graph.validators.permit(entry.metadata, for: request, at: now))
        if let value = try? resource.value(of: loaded) { await take(.saved(value), unlessCleared: saved) }
    }

    /// Takes an event in the actor in which this was made.
    private func take(_ event: ScreenState<Value>.Event, unlessCleared saved: SavedEntry? = nil) async {
        await take(event, unlessCleared: saved, on: actor)
    }

    private func take(
        _ event: ScreenState<Value>.Event, unlessCleared saved: SavedEntry?, on actor: isolated (any Actor)?
    ) {
        apply(event, unlessCleared: saved)
    }

    /// Takes an event, begins the load that follows from it, and tells the observers.
    ///
    /// - Parameter saved: the entry that is shown. If it was cleared in the meantime, nothing happens.
    private func apply(_ event: ScreenState<Value>.Event, unlessCleared saved: SavedEntry? = nil) {
        // The account is code of the app, so it is asked before the lock is taken.
        let request = resource.resourceState.owned(state.withLock { $0.request })
        let keys = resource.resourceState.keys
        let now = world.now
        let isChanged = state.withLock { state in
            if let saved, keys.isVoid(saved.ticket, tags: saved.entry.metadata.tags) { return false }
            let former = state.screen.changes
            (state.request, state.screen.key) = (request, request.key)
            let load = state.screen.apply(event, at: now)
            if state.screen.isCleared { for (_, load) in state.loads { load.task.cancel() } }
            if let load { begin(load, &state, at: now) }
            setAlarm(&state, at: now)
            return state.screen.changes != former
        }
        if isChanged { tellObservers() }
    }

    /// Tells the observers of a change after it, so that one on another thread that reads the phase now finds the new one.
    private func tellObservers() {
        registrar.withMutation(of: self, keyPath: \.phase) {}
        changed.send(())
    }

    private func begin(_ load: ScreenState<Value>.Load, _ state: inout State, at now: Timestamp) {
        var request = state.request
        request.mode = load.mode
        let end = AwaitableWork<Void>(in: world)
        let screenLoad = ScreenLoad(
            resource: resource, request: request, isBlank: state.screen.phase(at: now).value == nil
        ) { [weak self] progress in
            await self?.take(.load(load.number, progress))
        }
        let task = world.spawn { [weak self] in
            await screenLoad.run()
            self?.ended(load.number)
            end.end(.success(()))
        }
        state.loads[load.number] = (task, end)
    }

    private func ended(_ number: Int) { state.withLock { _ = $0.loads.removeValue(forKey: number) } }

    /// Sets the alarm at which the value becomes stale. Nothing changes then but the phase that observers read.
    private func setAlarm(_ state: inout State, at now: Timestamp) {
        state.alarm?.cancel()
        state.alarm = nil
        guard let left = state.screen.freshness(left: now), left < .seconds(Int64(1) << 31) else { return }
        state.alarm = world.alarm(after: max(left, .milliseconds(1))) { [weak self] in self?.timePassed() }
    }

    private func timePassed() {
        let now = world.now
        state.withLock { setAlarm(&$0, at: now) }
        tellObservers()
    }
}
