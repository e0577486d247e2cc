import LarderSystem
import Synchronization

/// Remembers the outdated copies that a store could neither remove nor mark as expired.
///
/// They are remembered by this process only, and at most `capacity` of them: the oldest are forgotten first.
final class CopiesToHide: Sendable {
    /// The reason why a copy is outdated.
    enum Reason: Sendable {
        /// The origin said that the resource is gone.
        case gone
        /// The copy may not be kept.
        case unkeepable
        /// A clearing that failed selects the copy.
        case uncleared
        /// The origin has sent a newer answer.
        case outdated(by: NewestAnswer)

        /// The reason, in words, why the copy may not be shown; nil if it may be shown as an expired copy.
        var reasonToHide: String? {
            switch self {
            case .gone: "the origin says it is gone, and it could not be removed"
            case .unkeepable: "it may not be kept, and could not be removed"
            case .uncleared: "it was cleared, and could not be removed"
            case .outdated: nil
            }
        }
    }

    private struct Note {
        var reason: Reason
        /// The number of the note. Later notes have larger numbers.
        var number: UInt64
        /// Whether an attempt to remove or mark the copy is under way, or an operation that was given up may still end.
        var isBusy: Bool
    }

    private struct State {
        var next: UInt64 = 0
        var all: [Key: Note] = [:]
    }

    private static let capacity = 1_000

    private let state = Locked(State())
    private let count = Atomic(0)
    private let exceptions: HitExceptions

    init(countedBy exceptions: HitExceptions) {
        self.exceptions = exceptions
    }

    /// Whether no copy is remembered. Takes no lock.
    @inline(__always)
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// The reason why the copy under `key` is outdated; nil if it is not known to be.
    subscript(key: Key) -> Reason? {
        isEmpty ? nil : state.withLock { $0.all[key]?.reason }
    }

    /// Remembers an outdated copy. No attempt to remove or mark it begins before all unfinished operations have ended.
    func note(_ reason: Reason, _ key: Key, after unfinished: [UnfinishedOperation] = []) {
        let number = change { state in
            state.next += 1
            if state.all[key] == nil, state.all.count >= Self.capacity {
                state.all.min { $0.value.number < $1.value.number }.map { _ = state.all.removeValue(forKey: $0.key) }
            }
            state.all[key] = Note(reason: reason, number: state.next, isBusy: !unfinished.isEmpty)
            return state.next
        }
        if !unfinished.isEmpty { UnfinishedOperation.whenOver(unfinished) { self.endAttempt(key, number) } }
    }

    /// Begins an attempt to remove or mark the copy under `key`, and returns its number. Returns nil while another
    /// attempt is under way. ``endAttempt(_:_:)`` must follow.
    func beginAttempt(_ key: Key) -> UInt64? {
        if isEmpty { return nil }
        return state.withLock { state in
            guard let note = state.all[key], !note.isBusy else { return nil }
            state.all[key]?.isBusy = true
            return note.number
        }
    }

    /// Ends an attempt. If it failed, the next search for the copy may begin another one.
    func endAttempt(_ key: Key, _ number: UInt64) {
        state.withLock { state in
            if state.all[key]?.number == number { state.all[key]?.isBusy = false }
        }
    }

    /// Forgets the copy under `key`, because it was replaced, marked or removed.
    func forget(_ key: Key) {
        if isEmpty { return }
        change { $0.all[key] = nil }
    }

    /// Forgets the selected copies, because they were removed. A selection by tag forgets none.
    func forget(_ selection: Selection) {
        if isEmpty { return }
        change { state in state.all = state.all.filter { !selection.concerns($0.key, tags: []) } }
    }

    @discardableResult
    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        state.withLock { state in
            let former = !state.all.isEmpty
            defer {
                count.store(state.all.count, ordering: .relaxed)
                exceptions.change(from: former, to: !state.all.isEmpty)
            }
            return change(&state)
        }
    }
}

extension StoreAccess {
    /// Writes an answer, or renews its metadata if the payload is unchanged. Remembers the older copy as outdated when
    /// that fails.
    func keep(_ entry: Entry, for key: Key, isUnchanged: Bool) async throws -> Bool {
        do {
            let isKept =
                isUnchanged
                ? try await store.renewOrExpire(entry, for: key, in: world)
                : try await store.writeOrExpire(entry, for: key, in: world)
            noteWritten(entry, at: key, isKept: isKept)
            copiesToHide.forget(key)
            works(.write)
            return isKept
        } catch {
            await noteOlder(than: entry, key, after: error)
            throw error
        }
    }

    /// Remembers the older copy under a key to which a write has failed, if it is left and not expired.
    func noteOlder(than entry: Entry, _ key: Key, after error: any Error) async {
        let failure = error as? StoreError
        let wasGone =
            switch copiesToHide[key] {
            case .gone, .unkeepable: true
            case .uncleared, .outdated, nil: false
            }
        let unfinished = failure?.unfinished ?? []
        if wasGone, failure?.isStored != true, unfinished.isEmpty {
            // The copy that is gone was not replaced, and stays hidden.
        } else if wasGone || failure?.leavesOlder == true {
            copiesToHide.note(.outdated(by: await NewestAnswer(entry, in: world)), key, after: unfinished)
        } else {
            copiesToHide.forget(key)
        }
    }

    /// Removes a copy that is gone or may not be kept. Remembers the reason when the removal fails.
    func remove(_ key: Key, because reason: CopiesToHide.Reason) async throws {
        do {
            try await store.remove(.key(key))
            noteRemoved(key)
            copiesToHide.forget(key)
            works(.remove)
        } catch {
            copiesToHide.note(reason, key, after: (error as? StoreError)?.unfinished ?? [])
            throw error
        }
    }

    /// Returns the reason why the copy under `key` is outdated, or nil if it is not known to be. Starts an attempt in
    /// the background to remove or mark an outdated copy.
    func outdatedReason(of key: Key) -> CopiesToHide.Reason? {
        if failedClearings.select(key) {
            let again = failedClearings.takeTry(for: key, at: world.uptime)
            if !again.isEmpty {
                world.spawn { for selection in again { try? await self.remove(selection, isAgain: true) } }
            }
            return .uncleared
        }
        guard let reason = copiesToHide[key] else { return nil }
        if let number = copiesToHide.beginAttempt(key) {
            world.spawn {
                await self.removeOutdated(key)
                self.copiesToHide.endAttempt(key, number)
            }
        }
        return reason
    }

    private func removeOutdated(_ key: Key) async {
        let ticket = order.begin(key)
        do {
            _ = try await order.perform(ticket, if: .untouched) {
                switch copiesToHide[key] {
                case .gone: try await remove(key, because: .gone)
                case .unkeepable: try await remove(key, because: .unkeepable)
                case .outdated(let newest):
                    if await store.outdate(key, by: newest, in: world) { copiesToHide.forget(key) }
                case .uncleared, nil: break
                }
            }
        } catch {
            _ = report(error, effect: .notDropped, trail: Trail.Recorder())
        }
    }
}
