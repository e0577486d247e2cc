extension NetworkState {
    /// Creates the state that Linux's routes and interfaces describe.
    ///
    /// - Parameter folder: the folder in which Linux tells about each interface.
    init(_ table: RoutingTable, interfaces folder: String = "/sys/class/net") {
        guard let interface = table.wayOut else {
            self = .offline
            return
        }
        let kind = Self.kind(of: interface, in: folder)
        self.init(.online, kind: kind, isExpensive: kind == .cellular ? true : nil)
    }

    private static func kind(of interface: NetworkInterface, in folder: String) -> Kind? {
        let ethernet: UInt16 = 1  // ARPHRD_ETHER
        let rawIP: UInt16 = 519  // ARPHRD_RAWIP
        // Systems name mobile interfaces so, and an interface made by a modem's driver tells the driver.
        if interface.hardware == rawIP || interface.name.hasPrefix("ww") || interface.driver == "wwan" {
            return .cellular
        }
        if interface.driver != nil { return .other }
        let path = folder + "/" + interface.name
        guard let facts = facts(of: interface, in: path) else {
            return interface.hardware == ethernet ? nil : .other
        }
        switch facts["DEVTYPE"] {
        case "wlan": return .wifi
        case "wwan": return .cellular
        default: break
        }
        if Disk.stamp(of: path + "/phy80211") != nil || Disk.stamp(of: path + "/wireless") != nil { return .wifi }
        return interface.hardware == ethernet && Disk.stamp(of: path + "/device") != nil ? .wired : .other
    }

    /// Returns the facts in the file `uevent` of an interface; nil if there is no such file, or that of another interface.
    private static func facts(of interface: NetworkInterface, in path: String) -> [Substring: Substring]? {
        guard !interface.name.isEmpty, !interface.name.contains("/"), !interface.name.hasPrefix("."),
            let bytes = try? Disk.read(path + "/uevent", limit: 1 << 16)
        else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: "=", maxSplits: 1)
        }
        let facts = Dictionary(lines.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { first, _ in first }
        // In a container, the folder may be that of the machine outside, where a name means another interface.
        return facts["IFINDEX"] == Substring(String(interface.index)) ? facts : nil
    }
}
