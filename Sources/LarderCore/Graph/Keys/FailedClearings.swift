import LarderSystem
import Synchronization

/// A store's report on its clearings.
enum ClearingReport: Sendable {
    /// A clearing is not finished, for this reason.
    case unfinished(String)
    /// All clearings are finished.
    case finished
    /// The store is not used any more. Clearings may be unfinished.
    case released
}

/// Remembers the clearings that a store failed to carry out. Entries that they select are hidden until a later try
/// succeeds.
final class FailedClearings: Sendable {
    private struct FailedClearing {
        let selection: Selection
        /// The failure of the last try.
        var failure: any Error
        /// The number of the last try.
        var attempt: Int
        /// Whether a try is under way, or a removal that was given up has not ended.
        var isBusy: Bool
    }

    private struct State {
        var all: [FailedClearing] = []
        var nextTry = Duration.zero
        var attempts = 0
    }

    /// The number of clearings that are remembered. When it is reached, all entries count as selected.
    private static let capacity = 100

    private let state = Locked(State())
    private let isAny = Atomic(false)
    private let keys: KeyTable
    private let report: @Sendable (ClearingReport) -> Void

    init(in keys: KeyTable, report: @escaping @Sendable (ClearingReport) -> Void = { _ in }) {
        self.keys = keys
        self.report = report
    }

    deinit {
        if !isEmpty { keys.hidesSelections(false) }
        report(.released)
    }

    /// Whether no clearing has failed. Takes no lock.
    @inline(__always)
    var isEmpty: Bool { !isAny.load(ordering: .relaxed) }

    /// Returns whether a failed clearing may select this key.
    func select(_ key: Key) -> Bool {
        !isEmpty && state.withLock { $0.all.contains { $0.selection.mayConcern(key) } }
    }

    /// Remembers a clearing that failed. No other try of it begins before the operations that were given up have ended.
    ///
    /// - Parameter whenOver: called when these operations have ended, to try again. Not called if nothing was given up.
    func add(_ selection: Selection, _ failure: any Error, whenOver tryAgain: @escaping @Sendable () -> Void) {
        let unfinished = (failure as? StoreError)?.unfinished ?? []
        let attempt = change { state in
            state.attempts += 1
            let last = state.attempts
            let isAll = selection == .all || state.all.count >= Self.capacity
            let added = FailedClearing(
                selection: isAll ? .all : selection, failure: failure, attempt: last, isBusy: !unfinished.isEmpty)
            state.all.removeAll { isAll || $0.selection.isSame(as: selection) }
            if !state.all.contains(where: { $0.selection == .all }) { state.all.append(added) }
            return last
        }
        if unfinished.isEmpty { return }
        UnfinishedOperation.whenOver(unfinished) { [weak self] in
            if self?.endAttempt(attempt) == true { tryAgain() }
        }
    }

    /// Lets the clearing be tried again. Returns false if it was carried out or tried again meanwhile.
    private func endAttempt(_ attempt: Int) -> Bool {
        state.withLock { state in
            guard let index = state.all.firstIndex(where: { $0.attempt == attempt }) else { return false }
            state.all[index].isBusy = false
            return true
        }
    }

    /// Forgets a clearing that was carried out, and all clearings if every entry was removed.
    func remove(_ selection: Selection) {
        if isEmpty { return }
        change { $0.all.removeAll { selection == .all || $0.selection.isSame(as: selection) } }
    }

    /// Returns the clearings of `key` that should be tried again now. Returns none within a second after the last try,
    /// and none of which a try is still under way.
    func takeTry(for key: Key, at uptime: Duration) -> [Selection] {
        state.withLock { state in
            if uptime < state.nextTry { return [] }
            let indices = state.all.indices.filter { !state.all[$0].isBusy && state.all[$0].selection.mayConcern(key) }
            if !indices.isEmpty { state.nextTry = uptime + .seconds(1) }
            for index in indices { state.all[index].isBusy = true }
            return indices.map { state.all[$0].selection }
        }
    }

    /// Changes the state, and reports whether clearings are unfinished while no other thread can change it.
    @discardableResult
    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = change(&state)
            let isAnyLeft = !state.all.isEmpty
            if isAny.exchange(isAnyLeft, ordering: .relaxed) != isAnyLeft { keys.hidesSelections(isAnyLeft) }
            report(state.all.first.map { .unfinished(StoreError.clearingReason(for: $0.failure)) } ?? .finished)
            return result
        }
    }
}

extension StoreError {
    /// Whether an error leaves a removal behind that goes on.
    static func leavesUnfinished(_ error: any Error) -> Bool { (error as? StoreError)?.unfinished.isEmpty == false }

    /// Returns the failures of the tiers, or else the description of the error.
    static func tierReasons(for error: any Error) -> String {
        let faults = (error as? StoreError)?.faults ?? []
        return faults.isEmpty ? reason(for: error) : faults.map(\.description).joined(separator: ", ")
    }

    /// Returns the reason why a clearing is not finished, and how it goes on.
    static func clearingReason(for error: any Error) -> String {
        tierReasons(for: error)
            + (leavesUnfinished(error) ? "; the removal goes on" : "; it is tried again with the next loads")
            + ", and these copies are not shown"
    }
}

extension Selection {
    /// Returns whether both select the same entries. Texts are compared byte by byte, because texts that Unicode calls
    /// equal may name different accounts or tags.
    fileprivate func isSame(as other: Selection) -> Bool {
        switch (self, other) {
        case (.scope(let one), .scope(let other)): one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        case (.tag(let one), .tag(let other)): Array(one.utf8) == Array(other.utf8)
        default: self == other
        }
    }
}
