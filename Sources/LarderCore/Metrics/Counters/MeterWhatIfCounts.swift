import LarderSystem

/// Counts what other settings would have brought: see ``WhatIfCounts``.
extension Meter {
    /// Counts the end of a call whose caller got a copy because its patience ended.
    ///
    /// - Parameter duration: the time since the caller began to wait.
    func lateCallEnded(_ ending: LateEnding, after duration: Duration) {
        change { metrics in
            switch ending {
            case .answered: metrics.alternatives.answeredLate.record(duration)
            case .failed: metrics.alternatives.failedLate.record(duration)
            case .givenUp: metrics.alternatives.givenUpLate.record(duration)
            }
        }
    }

    /// Counts a load that got a copy because the origin was too slow for an earlier one.
    func shownWhileSlow() { change { $0.alternatives.shownWhileSlow = $0.alternatives.shownWhileSlow.plus(1) } }

    /// Counts a call that asked whether a copy is still current.
    ///
    /// - Parameters:
    ///   - isUnchanged: whether it is.
    ///   - time: the time since the end of the copy's freshness; negative if the copy was fresh.
    func asked(isUnchanged: Bool, sinceFresh time: Int64) {
        change { metrics in
            if time < 0 {
                metrics.alternatives.askedWhileFresh.record(-time)
            } else if isUnchanged {
                metrics.alternatives.unchanged.record(time)
            } else {
                metrics.alternatives.changed.record(time)
            }
        }
    }

    /// Counts a call for a key whose copy a full store had evicted.
    ///
    /// - Parameters:
    ///   - missing: the capacity that the store lacked.
    ///   - times: the number of calls for which this one stands.
    func evictedTooSoon(missing: Int, times: UInt64) {
        change { $0.alternatives.evictedTooSoon.record(Int64(missing), times: times) }
    }

    /// Notes a background refresh, to count later whether its result answered a load while it was fresh. Some refreshes are
    /// left out, because keys share places.
    func refreshed(_ hash: Int, freshUntil end: Timestamp) {
        let (now, place) = (world.now, HitMeter.place(of: hash))
        guard hash != 0, end > now else { return }
        state.withLock { state in
            if hits[awaitedAt: place] == hash { state.refreshes[place] = state.refreshes[place].map { _ in now } }
            settle(place, at: now, &state)
            guard state.refreshes[place] == nil else { return }
            state.refreshes[place] = end
            hits[awaitedAt: place] = hash
        }
    }

    /// Counts the refresh in a place if its result was used, or can no longer be used while it is fresh.
    func settle(_ place: Int, at now: Timestamp, _ state: inout State) {
        guard let end = state.refreshes[place] else { return }
        if hits[awaitedAt: place] == 0 {
            state.added.alternatives.usedRefreshes = state.added.alternatives.usedRefreshes.plus(1)
        } else if end <= now {
            state.added.alternatives.unusedRefreshes = state.added.alternatives.unusedRefreshes.plus(1)
            hits[awaitedAt: place] = 0
        } else {
            return
        }
        state.refreshes[place] = nil
    }
}
