import LarderSystem

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
            keys.unhide(key)
            meter.works(.write)
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
            switch keys.hiddenReason(of: key) {
            case .gone, .unkeepable: true
            case .uncleared, .outdated, nil: false
            }
        let unfinished = failure?.unfinished ?? []
        if wasGone, failure?.isStored != true, unfinished.isEmpty {
            // The copy that is gone was not replaced, and stays hidden.
        } else if wasGone || failure?.leavesOlder == true {
            keys.hide(key, because: .outdated(by: await NewestAnswer(entry, in: world)), after: unfinished)
        } else {
            keys.unhide(key)
        }
    }

    /// Removes a copy that is gone or may not be kept. Remembers the reason when the removal fails.
    func remove(_ key: Key, because reason: HiddenCopy.Reason) async throws {
        do {
            try await store.remove(.key(key))
            noteRemoved(key)
            keys.unhide(key)
            meter.works(.remove)
        } catch {
            keys.hide(key, because: reason, after: (error as? StoreError)?.unfinished ?? [])
            throw error
        }
    }

    /// Returns the reason why the copy under `key` is outdated, or nil if it is not known to be. Starts an attempt in
    /// the background to remove or mark an outdated copy.
    func outdatedReason(of key: Key) -> HiddenCopy.Reason? {
        if failedClearings.select(key) {
            let again = failedClearings.takeTry(for: key, at: world.uptime)
            if !again.isEmpty {
                world.spawn { for selection in again { try? await self.remove(selection, isAgain: true) } }
            }
            return .uncleared
        }
        guard let reason = keys.hiddenReason(of: key) else { return nil }
        if let number = keys.beginAttempt(key) {
            world.spawn {
                await self.removeOutdated(key)
                self.keys.endAttempt(key, number)
            }
        }
        return reason
    }

    private func removeOutdated(_ key: Key) async {
        let ticket = keys.begin(key)
        do {
            _ = try await keys.perform(ticket, if: .untouched) {
                switch keys.hiddenReason(of: key) {
                case .gone: try await remove(key, because: .gone)
                case .unkeepable: try await remove(key, because: .unkeepable)
                case .outdated(let newest):
                    if await store.outdate(key, by: newest, in: world) { keys.unhide(key) }
                case .uncleared, nil: break
                }
            }
        } catch {
            _ = meter.report(error, effect: .notDropped, trail: Trail.Recorder())
        }
    }
}
