/// The network as the system sees it.
///
/// On Linux, the network is offline while no route leads through a connected interface beyond the device. Routes to
/// addresses that interfaces give themselves do not count, while a cable to a single other machine does. The kind is that of
/// the interface of the default route; mobile networks are taken to be expensive, and whether the user wants to save data is
/// not known. On Apple platforms, `NWPathMonitor` tells all of this. Where the system does not tell, as in some sandboxes and
/// on other platforms, the state is unknown.
///
/// Nothing is watched before the first use. From then on, one thread watches for all worlds of the process, until the
/// process ends. The first use takes some tenths of a millisecond, at most half a second; all others read a number in memory.
public struct SystemNetwork: NetworkSource {
    /// Creates a source. All of them tell the same.
    public init() {}

    /// The state of the network now.
    public var state: NetworkState { NetworkWatch.shared.network.state }

    /// A stream of the present state and then each new one, until its reader stops. On Linux, changes within 20 ms come as
    /// one.
    public var changes: AsyncStream<NetworkState> { NetworkWatch.shared.network.changes }

    /// Calls `changed` on the thread that watches, after each change of ``state``, until the subscription ends.
    public func onChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        NetworkWatch.shared.network.onChange(changed)
    }
}
