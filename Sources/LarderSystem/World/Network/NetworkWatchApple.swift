#if canImport(Network)
    import Dispatch
    import Network

    extension NetworkWatch {
        /// Follows the network by a path monitor, which stays until the process ends.
        static func followSystem(_ report: @escaping @Sendable (NetworkState) -> Void) {
            let monitor = NWPathMonitor()
            _ = Unmanaged.passRetained(monitor)
            monitor.pathUpdateHandler = { report(NetworkState($0)) }
            monitor.start(queue: DispatchQueue(label: "larder.network"))
        }
    }

    extension NetworkState {
        /// Creates the state that a path describes.
        fileprivate init(_ path: NWPath) {
            switch path.status {
            case .satisfied: self.init(.online)
            case .unsatisfied: self.init(.offline)
            // A connection would make the network ready, for example a VPN on demand.
            case .requiresConnection: self.init(.unknown)
            @unknown default: self.init(.unknown)
            }
            guard path.status == .satisfied else { return }
            isExpensive = path.isExpensive
            isConstrained = path.isConstrained
            if path.usesInterfaceType(.wifi) {
                kind = .wifi
            } else if path.usesInterfaceType(.cellular) {
                kind = .cellular
            } else if path.usesInterfaceType(.wiredEthernet) {
                kind = .wired
            } else {
                kind = .other
            }
        }
    }
#endif
