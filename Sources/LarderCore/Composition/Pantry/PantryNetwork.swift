import LarderSystem

extension Pantry {
    /// Lets the pantry and its agenda hear of changes of the device.
    func followDevice() {
        let subscription = device.add { [weak self] in
            self?.noteNetwork()
            self?.agenda.deviceChanged()
        }
        deviceChanges.withLock { $0.subscription = subscription }
    }

    /// Begins to follow the network, if any of these graphs needs to know about it.
    func followNetwork(for graphs: [LoaderGraph]) {
        guard graphs.contains(where: { $0.needsNetwork || $0.policy.hasNetworkRules }) else { return }
        let isFirst = deviceChanges.withLock { changes in
            defer { changes.reportsLosses = true }
            return !changes.reportsLosses
        }
        device.watch()
        if isFirst { noteNetwork() }
    }

    private func noteNetwork() {
        guard deviceChanges.withLock({ $0.reportsLosses }) else { return }
        let turn = Self.report(
            { device.noteNetwork().map(PantryEvent.init) }, listeners: eventListeners, sinks: sinks, at: world.now)
        if turn == nil { return }
        for graph in graphs {
            graph.meter.setOffline(device.isOffline)
            if graph.needsNetwork { graph.storeAccess.networkChanged(isLost: device.isOffline) }
        }
    }
}

extension PantryEvent {
    fileprivate init(_ turn: Device.NetworkTurn) {
        switch turn {
        case .lost: self = .offline
        case .returned(let time): self = .online(after: time)
        }
    }
}

extension Meter {
    /// Goes on to count the time without a network in the place of `former`, which counts it no longer.
    func follow(_ former: Meter?, _ device: Device) {
        guard former !== self else { return }
        former?.setOffline(false)
        setOffline(device.isOffline, isNewSpell: false)
        // The network may have returned in between.
        if !device.isOffline { setOffline(false) }
    }
}

extension LoaderGraph {
    /// Whether its strategy heeds the network.
    var needsNetwork: Bool {
        policy.strategy?.strategyTraits.usesNetworkState == true
            && policy.origin.map { !$0.originTraits.worksOffline } ?? false
    }
}

extension StoreAccess {
    /// Lets the loads go on without the network, or with it. After a time without network, the origin may be asked for
    /// every key.
    fileprivate func networkChanged(isLost: Bool) { if isLost { networkIsLost() } else { keys.endRests() } }
}

extension Resource {
    /// Returns whether the policy permits some background work on the present network.
    ///
    /// Larder's own refreshes heed this. Work that an app or a section of a policy begins by itself should ask for it.
    ///
    /// - Throws: ``LoadError`` if there is no such resource.
    public func permits(_ work: BackgroundWork) throws(LoadError) -> Bool { try graph().background.permit(work) }
}
