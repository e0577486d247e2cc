import LarderSystem

/// The network and the power of the device, and the moments at which they or the accounts may have changed.
///
/// A pantry has one. It watches the network once for all that wait for it. Nobody tells of the power and of sign-ins, so
/// it looks at them once a minute while something waits for them.
final class Device: Sendable {
    /// A loss of the network, or its return.
    enum NetworkTurn {
        case lost
        case returned(after: Duration)
    }

    private struct State {
        var hasBegun = false
        var isClosed = false
        var watching: Subscription?
        var check: Alarm?
        var offlineSince: Duration?
    }

    /// The time after which the power and the accounts are looked at again.
    private static let checkInterval = Duration.seconds(60)

    private let world: any World
    private let listeners = Listeners<Void>()
    private let state = Locked(State())

    init(in world: any World) { self.world = world }

    /// The state of the network now.
    var network: NetworkState { world.network }

    /// Whether the device is known to be charged. It takes time to read, so it is not read under a lock.
    var isCharging: Bool { world.isCharging == true }

    /// Calls `changed` after each change, once the device is watched. Calls are in the order of the additions.
    func add(_ changed: @escaping @Sendable () -> Void) -> Subscription { listeners.add(changed) }

    /// Begins to watch the network, and tells of a change. Does nothing the second time.
    func watch() {
        if state.withLock({ $0.hasBegun }) { return }
        // The first use of a system's network may take some time, and a lock may be held during the later ones.
        _ = world.network
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun && !state.isClosed
        }
        guard isFirst else { return }
        // Outside the lock, because a source of the app may call back at once.
        let watching = world.onNetworkChange { [weak self] in self?.tellChange() }
        let isNeeded = state.withLock { state in
            if !state.isClosed { state.watching = watching }
            return !state.isClosed
        }
        // The network may have changed meanwhile.
        if isNeeded { tellChange() } else { watching.stop() }
    }

    /// Tells of a change in a minute, because the power or the accounts may have changed by then.
    func checkLater() {
        let alarm = world.alarm(after: Self.checkInterval) { [weak self] in
            self?.state.withLock { $0.check = nil }
            self?.tellChange()
        }
        let isNeeded = state.withLock { state in
            if state.isClosed || state.check != nil { return false }
            state.check = alarm
            return true
        }
        if !isNeeded { alarm.cancel() }
    }

    private func tellChange() { listeners.send(()) }

    /// Ends the watch.
    func close() {
        let (watching, check) = state.withLock { state in
            state.isClosed = true
            return (state.watching.take(), state.check.take())
        }
        watching?.stop()
        check?.cancel()
    }

    // MARK: Losses of the network

    /// Whether the network was lost when ``noteNetwork()`` was last called.
    var isOffline: Bool { state.withLock { $0.offlineSince != nil } }

    /// Notes the state of the network. Returns the turn if the network was lost or has returned.
    func noteNetwork() -> NetworkTurn? {
        state.withLock { state in
            if world.network.reach == .offline {
                if state.offlineSince != nil { return nil }
                state.offlineSince = world.uptime
                return .lost
            }
            guard let since = state.offlineSince.take() else { return nil }
            return .returned(after: world.uptime - since)
        }
    }
}
