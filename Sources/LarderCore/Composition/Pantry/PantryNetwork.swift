import LarderSystem

/// Follows the network for a pantry.
final class NetworkFollower: Sendable {
    private struct State {
        var hasStarted = false
        var following: Subscription?
        var offlineSince: Duration?
    }

    private let state = Locked(State())

    /// Calls `changed` now and after each change of the network. Does nothing the second time.
    func start(in world: any World, _ changed: @escaping @Sendable () -> Void) {
        // The first use of a system's network may take some time, and a lock is held during the later ones.
        _ = world.network
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        guard isFirst else { return }
        // Outside the lock, because a source of the app may call back at once.
        let following = world.onNetworkChange(changed)
        state.withLock { $0.following = following }
        changed()
    }

    func stop() { state.withLock { $0.following }?.stop() }

    /// Whether the device is known to have no network.
    var isOffline: Bool { state.withLock { $0.offlineSince != nil } }

    /// Takes on the state of the network. Returns the event if the network was lost or has returned.
    func update(in world: any World) -> PantryEvent? {
        state.withLock { state in
            if world.network.reach == .offline {
                guard state.offlineSince == nil else { return nil }
                state.offlineSince = world.uptime
                return .offline
            }
            guard let since = state.offlineSince else { return nil }
            state.offlineSince = nil
            return .online(after: world.uptime - since)
        }
    }
}

extension Pantry {
    /// Begins to follow the network, if any of these graphs needs to know about it.
    func followNetwork(for graphs: [LoaderGraph]) {
        guard graphs.contains(where: { $0.needsNetwork || $0.policy.hasNetworkRules }) else { return }
        network.start(in: world) { [weak self] in self?.networkChanged() }
    }

    private func networkChanged() {
        let event = Self.report({ network.update(in: world) }, listeners: eventListeners, sinks: sinks, at: world.now)
        let isThere = world.network.reach != .offline
        for graph in graphs {
            if event != nil { graph.meter.setOffline(network.isOffline) }
            if event != nil, !isThere, graph.needsNetwork { graph.storeAccess.networkIsLost() }
            if isThere { graph.networkIsThere(again: event != nil) }
        }
    }
}

extension Meter {
    /// Goes on to count the time without a network in the place of `former`, which counts it no longer.
    func follow(_ former: Meter?, _ network: NetworkFollower) {
        guard former !== self else { return }
        former?.setOffline(false)
        setOffline(network.isOffline, isNewSpell: false)
        // The network may have returned in between.
        if !network.isOffline { setOffline(false) }
    }
}

extension LoaderGraph {
    /// Whether its strategy heeds the network.
    var needsNetwork: Bool {
        policy.strategy.traits.usesNetworkState && policy.origin.map { !$0.traits.worksOffline } ?? false
    }

    /// Begins the refreshes that waited for the network, if the policy permits them on it. After a time without network,
    /// the origin may be asked for every key.
    fileprivate func networkIsThere(again hasReturned: Bool) {
        if hasReturned, needsNetwork { storeAccess.keys.endRests() }
        // A loss that was too short to be followed may have left some, too.
        if background.permit(.refresh) { storeAccess.keys.beginRefreshes(in: world, refreshNow) }
    }
}

extension Resource {
    /// Returns whether the policy permits some background work on the present network.
    ///
    /// Larder's own refreshes heed this. Work that an app or a section of a policy begins by itself should ask for it.
    ///
    /// - Throws: ``LoadError`` if there is no such resource.
    public func permits(_ work: BackgroundWork) throws(LoadError) -> Bool { try graph().background.permit(work) }
}
