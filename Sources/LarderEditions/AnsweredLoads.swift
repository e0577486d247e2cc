import Larder
import LarderSystem

/// Counts the loads under an edition, as long as they are of interest.
final class AnsweredLoads: Sendable {
    private struct State {
        /// The answered loads.
        var count = 0
        var hasEnded = false
        /// Counts the editions that were put in effect. Loads under a former one are of no interest.
        var edition = 0
        /// Whether they are being added to the trial.
        var isAdding = false
        var subscription: Subscription?
    }

    private let state = Locked(State())

    /// Begins anew, for another edition.
    ///
    /// - Returns: whether nothing counts yet.
    func begin() -> Bool {
        state.withLock { state in
            state.edition += 1
            (state.count, state.hasEnded) = (0, false)
            return state.subscription == nil
        }
    }

    func count(with subscription: Subscription) { state.withLock { $0.subscription = subscription } }

    /// Counts a load.
    ///
    /// - Parameter limit: the number of answered loads that are to be added at once, after the first load.
    /// - Returns: the edition whose loads are to be added now; nil if they are not.
    func add(isAnswered: Bool, limit: Int) -> Int? {
        state.withLock { state in
            state.count += isAnswered ? 1 : 0
            guard !state.isAdding, !state.hasEnded || state.count >= limit else { return nil }
            (state.isAdding, state.hasEnded) = (true, true)
            return state.edition
        }
    }

    /// Returns the number of answered loads that were not added yet, and forgets them.
    func collect() -> Int {
        state.withLock { state in
            defer { state.count = 0 }
            return state.count
        }
    }

    /// Whether no other edition was put in effect since.
    func isCurrent(_ edition: Int) -> Bool { state.withLock { $0.edition == edition } }

    /// Ends the counting for an edition if no further loads are of interest.
    func ended(_ edition: Int, wantsMore: Bool) {
        let subscription = state.withLock { state -> Subscription? in
            state.isAdding = false
            return wantsMore || state.edition != edition ? nil : state.subscription.take()
        }
        subscription?.stop()
    }

    /// Ends the counting.
    func close() { state.withLock { $0.subscription.take() }?.stop() }
}

extension Editions {
    /// Counts answered loads as long as they are of interest.
    func countLoads() {
        guard let pantry = context.ownPantry, loads.begin() else { return }
        loads.count(with: pantry.attach(LoadCounter { [weak self] in self?.ended(isAnswered: $0) }))
    }

    /// Called by each load, so it only counts. The files follow later.
    private func ended(isAnswered: Bool) {
        guard let edition = loads.add(isAnswered: isAnswered, limit: settings.confirmAfter) else { return }
        _ = world.spawn { [weak self] in await self?.addLoads(of: edition) }
    }

    private func addLoads(of edition: Int) async {
        let result = try? await use { [loads] machine, _ -> (confirmed: Int?, wantsMore: Bool) in
            guard loads.isCurrent(edition) else { return (nil, true) }
            return (machine.answered(loads.collect()), machine.wantsLoads)
        }
        loads.ended(edition, wantsMore: result?.wantsMore ?? true)
        tell(result?.confirmed.map(EditionEvent.confirmed))
    }
}

/// Tells of each load whether it was answered with a value.
private struct LoadCounter: MetricsSink {
    let report: @Sendable (_ isAnswered: Bool) -> Void

    func ended(_ load: LoadReport) { report(load.source != nil) }
}
