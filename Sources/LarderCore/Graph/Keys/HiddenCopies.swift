import LarderSystem

// The outdated copies that a store could neither remove nor mark as expired. This process remembers them, no other.
extension KeyTable {
    /// Returns the reason why the copy under `key` is outdated; nil if it is not known to be.
    func hiddenReason(of key: Key) -> HiddenCopy.Reason? {
        mayBeUnusual(key) ? read(key) { $0[key].hidden?.reason } : nil
    }

    /// Remembers an outdated copy. No attempt to remove or mark it begins before all unfinished operations have ended.
    func hide(_ key: Key, because reason: HiddenCopy.Reason, after unfinished: [UnfinishedOperation] = []) {
        let number = number()
        change(key) { $0[key].hidden = HiddenCopy(reason: reason, number: number, isBusy: !unfinished.isEmpty) }
        if !unfinished.isEmpty { UnfinishedOperation.whenOver(unfinished) { self.endAttempt(key, number) } }
    }

    /// Begins an attempt to remove or mark the copy under `key`, and returns its number. Returns nil while another
    /// attempt is under way. ``endAttempt(_:_:)`` must follow.
    func beginAttempt(_ key: Key) -> UInt64? {
        change(key) { state in
            guard let hidden = state[key].hidden, !hidden.isBusy else { return nil }
            state[key].hidden?.isBusy = true
            return hidden.number
        }
    }

    /// Ends an attempt. If it failed, the next search for the copy may begin another one.
    func endAttempt(_ key: Key, _ number: UInt64) {
        change(key) { state in if state[key].hidden?.number == number { state[key].hidden?.isBusy = false } }
    }

    /// Forgets the copy under `key`, because it was replaced, marked or removed.
    func unhide(_ key: Key) {
        if hiddenReason(of: key) != nil { change(key) { $0[key].hidden = nil } }
    }

    /// Forgets the selected copies, because they were removed. A selection by tag forgets none.
    func unhide(_ selection: Selection) {
        if isUsual { return }
        changeAll(where: { selection.mayConcern($0.key) }) { state in
            for key in state.entryKeys where selection.concerns(key, tags: []) { state[key].hidden = nil }
        }
    }
}
