import Synchronization

/// Remembers which copies must not be shown as they are because a store could neither remove nor mark them.
///
/// Only this process knows, and only of so many: of more, those noted first are forgotten.
final class Leftovers: Sendable {
    /// The flaw of a copy.
    enum Flaw: Sendable {
        /// The origin said that it is gone.
        case gone
        /// A clearing selects it, and failed.
        case uncleared
        /// The origin has sent something newer.
        case outdated(by: Newest)

        /// Why the copy may not be shown at all; nil if it may, for some uses.
        var hidden: String? {
            switch self {
            case .gone: "the origin says it is gone, and it could not be removed"
            case .uncleared: "it was cleared, and could not be removed"
            case .outdated: nil
            }
        }
    }

    private struct Leftover {
        var flaw: Flaw
        /// Tells this note from later ones.
        var number: UInt64
        /// Whether an attempt to mend it is under way, or an operation that was given up may still end.
        var isBusy: Bool
    }

    private struct State {
        var next: UInt64 = 0
        var all: [Key: Leftover] = [:]
    }

    private static let most = 1_000

    private let state = Locked(State())
    private let count = Atomic(0)

    /// Whether nothing is remembered; costs next to nothing.
    @inline(__always)
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// The flaw of the copy under `key`; nil when none is known.
    subscript(key: Key) -> Flaw? {
        isEmpty ? nil : state.withLock { $0.all[key]?.flaw }
    }

    /// Remembers the flaw of a copy. No attempt is made to mend it before all unfinished operations have ended.
    func note(_ flaw: Flaw, _ key: Key, after unfinished: [Unfinished] = []) {
        let number = change { state in
            state.next += 1
            if state.all[key] == nil, state.all.count >= Self.most {
                state.all.min { $0.value.number < $1.value.number }.map { _ = state.all.removeValue(forKey: $0.key) }
            }
            state.all[key] = Leftover(flaw: flaw, number: state.next, isBusy: !unfinished.isEmpty)
            return state.next
        }
        if !unfinished.isEmpty { Unfinished.whenOver(unfinished) { self.rest(key, number) } }
    }

    /// Begins an attempt to mend the copy under `key`; nil while another one is under way. ``rest(_:_:)`` must follow.
    func begin(_ key: Key) -> UInt64? {
        if isEmpty { return nil }
        return state.withLock { state in
            guard let leftover = state.all[key], !leftover.isBusy else { return nil }
            state.all[key]?.isBusy = true
            return leftover.number
        }
    }

    /// Ends an attempt to mend. If it failed, the next look may begin another one.
    func rest(_ key: Key, _ number: UInt64) {
        state.withLock { state in
            if state.all[key]?.number == number { state.all[key]?.isBusy = false }
        }
    }

    /// Forgets the flaw of the copy under `key`: it was replaced, marked or removed.
    func forget(_ key: Key) {
        if isEmpty { return }
        change { $0.all[key] = nil }
    }

    /// Forgets the flaws of the selected copies: they were removed. Those selected by a tag are remembered.
    func forget(_ selection: Selection) {
        if isEmpty { return }
        change { state in state.all = state.all.filter { !selection.contains($0.key, tags: []) } }
    }

    @discardableResult
    private func change<Result>(_ change: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { count.store(state.all.count, ordering: .relaxed) }
            return change(&state)
        }
    }
}

extension Shelf {
    /// Writes an answer, and remembers what is left behind when that fails.
    func keep(_ entry: Entry, for key: Key) async throws -> Bool {
        do {
            let isKept = try await store.writeOrExpire(entry, for: key, in: world)
            leftovers.forget(key)
            works(.write)
            return isKept
        } catch {
            let failure = error as? StoreError
            let wasGone = if case .gone = leftovers[key] { true } else { false }
            let unfinished = failure?.unfinished ?? []
            if wasGone, failure?.isStored != true, unfinished.isEmpty {
                // The gone copy was not replaced: it stays hidden.
            } else if wasGone || failure?.leavesOlder == true {
                leftovers.note(.outdated(by: Newest(entry)), key, after: unfinished)
            } else {
                leftovers.forget(key)
            }
            throw error
        }
    }

    /// Removes what the origin says is gone, or remembers that it is.
    func removeGone(_ key: Key) async throws {
        do {
            try await store.remove(.key(key))
            leftovers.forget(key)
            works(.remove)
        } catch {
            leftovers.note(.gone, key, after: (error as? StoreError)?.unfinished ?? [])
            throw error
        }
    }

    /// The flaw of the copy under `key`; nil when none is known. If there is one, an attempt to mend it starts beside the
    /// caller.
    func flaw(of key: Key) -> Leftovers.Flaw? {
        if failedClearings.select(key) {
            let again = failedClearings.takeTry(for: key, at: world.uptime)
            if !again.isEmpty {
                world.spawn { for selection in again { try? await self.remove(selection, isAgain: true) } }
            }
            return .uncleared
        }
        guard let flaw = leftovers[key] else { return nil }
        if let number = leftovers.begin(key) {
            world.spawn {
                await self.mend(key)
                self.leftovers.rest(key, number)
            }
        }
        return flaw
    }

    private func mend(_ key: Key) async {
        let ticket = order.begin(key)
        do {
            _ = try await order.perform(ticket, if: .untouched) {
                switch leftovers[key] {
                case .gone: try await removeGone(key)
                case .outdated(let newest): if await store.outdate(key, by: newest) { leftovers.forget(key) }
                case .uncleared, nil: break
                }
            }
        } catch {
            _ = report(error, .remove, Trail.Recorder(), "copy not dropped")
        }
    }
}
