import LarderSystem

// The rest of the origin after failures.
//
// Each failure in a row doubles the rest of a key, up to half a minute. When the origin has failed for other keys for some
// time and has answered for none, the first rest of another key is as long as that time. Each strategy sets the length of
// the first rest.
extension KeyTable {
    /// Notes that the origin failed for a key, with an error or because it took too long.
    func originFailed(_ key: Key, with error: LoadError? = nil, in world: any World) {
        var failure = OriginFailure(in: world)
        failure.outage = outage.withLock { $0.fail(at: world.uptime) }
        if let error { (failure.code, failure.status, failure.cause) = (error.code, error.status, error.cause) }
        note(failure, of: key) { failure in
            // A call that was slow and then failed counts as one failure.
            if !failure.isSlow { failure.count += 1 }
            failure.isSlow = false
        }
    }

    /// Notes that a caller's wait ended without an answer. The call goes on.
    func originOverran(_ key: Key, base: Duration, in world: any World) {
        // One slow call counts once, even if many callers wait for it.
        if base <= .zero || rest(of: key, base: base, at: world.uptime) != nil { return }
        var failure = OriginFailure(in: world)
        failure.isSlow = true
        note(failure, of: key) { failure in
            failure.count += 1
            failure.isSlow = true
        }
    }

    /// Notes that the origin answered for a key.
    func originAnswered(_ key: Key) {
        guard hasFailures else { return }
        outage.withLock { $0 = Outage() }
        if read(key, \.failure) != nil { change(key) { $0.failure = nil } }
    }

    /// Ends the rest of the origin for all keys.
    func endRests() {
        outage.withLock { $0 = Outage() }
        if hasFailures { changeAll(where: { $0.failure != nil }) { $0.failure = nil } }
    }

    /// Returns the rest of the origin for a key. Returns nil when the origin may be asked.
    func rest(of key: Key, base: Duration, at uptime: Duration) -> OriginRest? {
        hasFailures ? read(key, \.failure)?.rest(base, at: uptime) : nil
    }

    private func note(_ failure: OriginFailure, of key: Key, again: (inout OriginFailure) -> Void) {
        var failure = failure
        change(key) { state in
            if let former = state.failure {
                (failure.count, failure.isSlow) = (former.count, former.isSlow)
                again(&failure)
            }
            state.failure = failure
        }
    }
}
