/// The network that background work waits for, as policies say it: `"when": "wifi"`.
public enum NetworkCondition: String, Hashable, Sendable, CaseIterable {
    /// The work runs in any state, also while the device is known to have no network.
    case any
    /// The device is not known to be without a network.
    case online
    /// The device is not known to be without a network, nor on one that costs by use: Wi-Fi, a cable, or a network of
    /// which nothing is known.
    case wifi

    /// Returns whether work with this condition may run.
    public func isMet(by network: NetworkState) -> Bool {
        switch self {
        case .any: true
        case .online: network.reach != .offline
        case .wifi: network.reach != .offline && !network.isCostly
        }
    }
}

extension NetworkState {
    /// Whether background work should be spared on this network: it is known to cost by use, or the user asked to save
    /// data. A mobile network counts as costly unless it is known not to be.
    public var isCostly: Bool { (isExpensive ?? (kind == .cellular)) || isConstrained == true }
}
