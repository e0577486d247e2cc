public import LarderSystem

/// Runs several works for one result. The first work that succeeds gives the result.
///
/// ```swift
/// let attempts = FirstSuccess<Loaded<Entry>>(in: context.world)
/// attempts.enter { try await inner.load(call) }
/// attempts.enter(after: .seconds(1)) { try await inner.load(call) }
/// return try await attempts.result()
/// ```
///
/// Enter the works before you wait for ``result()``: they begin at once, but their failures decide nothing until then.
///
/// An error that the others cannot make good ends it like a success: an answer (``LoadError/isAnswer``), and that the
/// caller's deadline passed. May be used from any thread.
///
/// If ``result()`` is never called, the works are cancelled when the object is deallocated. A work that reads ``failure``
/// keeps the object alive until the work ends.
public final class FirstSuccess<Value: Sendable>: Sendable {
    private let attempts: Attempts<Value>

    /// No works yet.
    public init(in world: any World) {
        attempts = Attempts(in: world)
    }

    deinit { attempts.end(.failure(CancellationError())) }

    /// The first failure of a work; nil while none has failed. That there is no copy (`notCached`) gives way to any other
    /// failure.
    public var failure: (any Error)? { attempts.failure }

    /// Adds a work.
    ///
    /// - Parameters:
    ///   - delay: how long it waits before it begins. It does not begin when there is a result by then, nor when every other
    ///     work has failed.
    ///   - linger: how long it may go on after another work has succeeded. When it succeeds then, its value is not used.
    ///   - work: is cancelled when its value is not needed any more.
    public func enter(
        after delay: Duration = .zero, lingering linger: Duration = .zero,
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        attempts.enter(after: delay, lingering: linger, work)
    }

    /// Returns the value of the first work that succeeds. What is under way then is cancelled, or lingers.
    ///
    /// - Throws: the first ``failure`` when every work that has begun failed. `CancellationError` at once when the
    ///   waiter's task is cancelled. Then nothing lingers.
    public func result() async throws -> Value {
        // `deinit` would cancel the works.
        defer { withExtendedLifetime(self) {} }
        return try await attempts.result()
    }
}

/// The works of a ``FirstSuccess``. They keep this object alive while they are under way, but not the `FirstSuccess`.
private final class Attempts<Value: Sendable>: Sendable {
    private struct Work {
        /// The time for which it may go on after another work has succeeded.
        var linger: Duration
        var hasBegun: Bool
        var task: Task<Void, Never>?
        /// The alarm that begins the work after its delay, or cancels it when its lingering ends.
        var alarm: Alarm?
    }

    private struct State {
        var entered = 0
        /// The works that have not ended, by number.
        var works: [Int: Work] = [:]
        var failure: (any Error)?
        /// Whether the result is waited for. Before that, more works may be entered, so failures decide nothing.
        var isAwaited = false
        var isOver = false
        var hasSucceeded = false

        /// Whether a work may begin: any until there is a result, and after a success one that lingers and waits for nothing.
        func mayBegin(after delay: Duration = .zero, lingering linger: Duration) -> Bool {
            !isOver || hasSucceeded && linger > .zero && delay <= .zero
        }

        /// The first failure, if the result is waited for and every work that has begun has failed.
        var finalFailure: (any Error)? {
            // A key path would be made anew each time, because the type is generic.
            isAwaited && !works.values.contains { $0.hasBegun } ? failure : nil
        }
    }

    private let world: any World
    private let state = Locked(State())
    private let outcome: AwaitableWork<Value>

    init(in world: any World) {
        self.world = world
        outcome = AwaitableWork(in: world)
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    func enter(
        after delay: Duration, lingering linger: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) {
        let number = state.withLock { state -> Int? in
            guard state.mayBegin(after: delay, lingering: linger) else { return nil }
            state.entered += 1
            state.works[state.entered] = Work(linger: linger, hasBegun: delay <= .zero)
            return state.entered
        }
        guard let number else { return }
        if delay <= .zero { return begin(number, work) }
        set(world.alarm(after: delay) { self.begin(number, work) }, for: number) { !$0.hasBegun }
    }

    func result() async throws -> Value {
        defer { end(.failure(CancellationError())) }
        let failure = state.withLock { state in
            state.isAwaited = true
            return state.finalFailure
        }
        if let failure { end(.failure(failure)) }
        guard let value = try await outcome.value() else { throw CancellationError() }
        return value
    }

    private func begin(_ number: Int, _ work: @escaping @Sendable () async throws -> Value) {
        let isDue = state.withLock { state in
            let linger = state.works[number]?.linger ?? .zero
            if !state.mayBegin(lingering: linger) { state.works[number] = nil }
            state.works[number]?.hasBegun = true
            state.works[number]?.alarm = nil
            return state.works[number] != nil
        }
        guard isDue else { return }
        let task = world.spawn {
            do { self.ended(number, .success(try await work())) } catch { self.ended(number, .failure(error)) }
        }
        let (isNeeded, isLate) = state.withLock { state in
            state.works[number]?.task = task
            return (state.works[number] != nil, state.isOver)
        }
        if !isNeeded { task.cancel() }
        if isLate { linger(number) }
    }

    private func ended(_ number: Int, _ result: Result<Value, any Error>) {
        var failure: (any Error)?
        if case .failure(let error) = result {
            let meaning = LoadError.meaning(of: error)
            if meaning?.isAnswer != true, meaning?.code != .deadline { failure = error }
        }
        guard let failure else { return end(result, by: number) }
        let (alarm, last) = state.withLock { state -> (Alarm?, (any Error)?) in
            let alarm = state.works.removeValue(forKey: number)?.alarm
            let isNone = state.failure.map { ($0 as? LoadError)?.code == .notCached } ?? true
            if isNone { state.failure = failure }
            return (alarm, state.finalFailure)
        }
        alarm?.cancel()
        if let last { end(.failure(last)) }
    }

    /// Ends the whole. What comes after the first end is ignored.
    ///
    /// - Parameter number: the work that gave the result. It leaves in the same step, so that no failure of another work
    ///   can seem to be the last.
    func end(_ result: Result<Value, any Error>, by number: Int? = nil) {
        let (alarm, works) = state.withLock { state -> (Alarm?, (unneeded: [Work], lingering: [Int])?) in
            let alarm = number.flatMap { state.works.removeValue(forKey: $0)?.alarm }
            if state.isOver { return (alarm, nil) }
            state.isOver = true
            if case .success = result { state.hasSucceeded = true }
            let works = state.works.sorted { $0.key < $1.key }
            state.works = state.works.filter { state.hasSucceeded && $0.value.hasBegun && $0.value.linger > .zero }
            // A work whose task is not known yet is left to `begin`.
            let lingering = works.filter { state.works[$0.key]?.task != nil }
            return (alarm, (works.filter { state.works[$0.key] == nil }.map(\.value), lingering.map(\.key)))
        }
        alarm?.cancel()
        guard let works else { return }
        outcome.end(result)
        for work in works.unneeded {
            work.alarm?.cancel()
            work.task?.cancel()
        }
        for number in works.lingering { linger(number) }
    }

    /// Cancels a work after its lingering time, if it is still under way.
    private func linger(_ number: Int) {
        guard let time = state.withLock({ $0.works[number]?.linger }) else { return }
        let alarm = world.alarm(after: time) {
            self.state.withLock { $0.works.removeValue(forKey: number) }?.task?.cancel()
        }
        set(alarm, for: number) { _ in true }
    }

    private func set(_ alarm: Alarm, for number: Int, if isNeeded: (Work) -> Bool) {
        let isSet = state.withLock { state in
            guard let work = state.works[number], isNeeded(work) else { return false }
            state.works[number]?.alarm = alarm
            return true
        }
        if !isSet { alarm.cancel() }
    }
}
