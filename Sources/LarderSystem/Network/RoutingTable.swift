/// A network interface of the device, as Linux describes it.
package struct NetworkInterface: Equatable, Sendable {
    /// The number of the interface.
    package var index: Int32
    /// The name of the interface, such as `eth0`.
    package var name: String
    /// The kind of hardware: 1 is Ethernet, and also what looks like it, such as Wi-Fi.
    package var hardware: UInt16
    /// The name of the kind of an interface that is not hardware, such as `veth` or `wireguard`.
    package var driver: String?
    /// The state of the interface: the flags that `IFF_UP` is one of.
    package var flags: UInt32

    /// Whether the interface leads beyond the device: it is up, running and connected, and not the loopback interface.
    var leadsOut: Bool {
        let (up, loopback, running, connected): (UInt32, UInt32, UInt32, UInt32) = (1, 1 << 3, 1 << 6, 1 << 16)
        return flags & (up | loopback | running | connected) == up | running | connected
    }
}

/// The interfaces of the device and the routes through them, as far as needed to know whether there is a way out.
///
/// It is made of the messages with which Linux answers: `RTM_NEWLINK` for each interface and `RTM_NEWROUTE` for each route.
/// Only the best route through each interface is kept, so that a router's million routes take no memory.
package struct RoutingTable: Sendable {
    /// A route through an interface. The order says which route decides about the kind of the network.
    private struct Route: Comparable, Sendable {
        /// Whether the route leads to a part of all addresses only.
        var isPartial: Bool
        /// Whether the route is in a table of its own, as that of a VPN may be.
        var isInOwnTable: Bool
        var metric: UInt32

        static func < (one: Route, other: Route) -> Bool {
            if one.isPartial != other.isPartial { return other.isPartial }
            if one.isInOwnTable != other.isInOwnTable { return other.isInOwnTable }
            return one.metric < other.metric
        }
    }

    /// The progress of an answer.
    package enum Progress: Sendable {
        /// More messages follow.
        case more
        /// The answer is complete.
        case complete
        /// The system refused to answer, or the messages cannot be read.
        case failed
    }

    /// The types of messages. The names in Linux's headers stand beside the numbers of this file.
    private enum MessageType {
        static let error: UInt16 = 2  // NLMSG_ERROR
        static let end: UInt16 = 3  // NLMSG_DONE
        static let interface: UInt16 = 16  // RTM_NEWLINK
        static let route: UInt16 = 24  // RTM_NEWROUTE
    }

    /// The types of attributes of an interface.
    private enum InterfaceAttribute {
        static let name: UInt16 = 3  // IFLA_IFNAME
        static let details: UInt16 = 18  // IFLA_LINKINFO
        static let driver: UInt16 = 1  // IFLA_INFO_KIND, one of the details
    }

    /// The types of attributes of a route.
    private enum RouteAttribute {
        static let destination: UInt16 = 1  // RTA_DST
        static let interface: UInt16 = 4  // RTA_OIF
        static let metric: UInt16 = 6  // RTA_PRIORITY
        static let hops: UInt16 = 9  // RTA_MULTIPATH
        static let table: UInt16 = 15  // RTA_TABLE
        static let hopObject: UInt16 = 30  // RTA_NH_ID
    }

    /// False if something changed while the system wrote its answer.
    package private(set) var isConsistent = true
    private var interfaces: [Int32: NetworkInterface] = [:]
    /// The best route through each interface. 0 stands for an interface that the system did not name.
    private var routes: [Int32: Route] = [:]

    /// Creates an empty table.
    package init() {}

    /// The interface through which the device reaches others; nil if there is none.
    ///
    /// It is that of the default route with the lowest metric, or else that of another route.
    package var wayOut: NetworkInterface? {
        var best: (route: Route, interface: NetworkInterface)?
        for interface in interfaces.values.sorted(by: { $0.index < $1.index }) where interface.leadsOut {
            for route in [routes[interface.index], routes[0]] {
                guard let route else { continue }
                if let best, best.route <= route { continue }
                best = (route, interface)
            }
        }
        return best?.interface
    }

    /// Adds the messages that the system sent at once.
    package mutating func add(_ bytes: ArraySlice<UInt8>) -> Progress {
        let bytes = NetlinkBytes(bytes)
        var start = 0
        while start < bytes.count {
            guard let length: UInt32 = bytes.number(at: start), length >= 16,
                let message = bytes.part(from: start, count: Int(length)),
                let type: UInt16 = message.number(at: 4), let flags: UInt16 = message.number(at: 6)
            else { return .failed }
            if flags & 0x10 != 0 { isConsistent = false }  // NLM_F_DUMP_INTR
            switch type {
            case MessageType.error: return .failed
            case MessageType.end:
                // The number that ends an answer is negative if the answer is not complete.
                if let code: Int32 = message.number(at: 16), code < 0 { return .failed }
                return .complete
            case MessageType.interface: addInterface(message)
            case MessageType.route: addRoute(message)
            default: break
            }
            start += Int(length).roundedUpToFour
        }
        return .more
    }

    private mutating func addInterface(_ message: NetlinkBytes) {
        guard let hardware: UInt16 = message.number(at: 18), let index: Int32 = message.number(at: 20),
            let flags: UInt32 = message.number(at: 24), index > 0
        else { return }
        let attributes = message.attributes(from: 32)
        let details = attributes[InterfaceAttribute.details]?.attributes(from: 0)
        interfaces[index] = NetworkInterface(
            index: index, name: attributes[InterfaceAttribute.name]?.text ?? "", hardware: hardware,
            driver: details?[InterfaceAttribute.driver]?.text, flags: flags)
    }

    private mutating func addRoute(_ message: NetlinkBytes) {
        guard let family: UInt8 = message.number(at: 16), let length: UInt8 = message.number(at: 17),
            let shortTable: UInt8 = message.number(at: 20), let type: UInt8 = message.number(at: 23),
            let flags: UInt32 = message.number(at: 24)
        else { return }
        let attributes = message.attributes(from: 28)
        // Only unicast routes lead to others. Types such as "unreachable" and "local" do not.
        let (ipv4, ipv6, unicast): (UInt8, UInt8, UInt8) = (2, 10, 1)
        guard family == ipv4 || family == ipv6, type == unicast, !Self.isDead(flags),
            !Self.isLocal(attributes[RouteAttribute.destination], length, isIPv4: family == ipv4)
        else { return }
        let table: UInt32 = attributes[RouteAttribute.table]?.number(at: 0) ?? UInt32(shortTable)
        let route = Route(
            isPartial: length > 0, isInOwnTable: table != 254,  // RT_TABLE_MAIN
            metric: attributes[RouteAttribute.metric]?.number(at: 0) ?? 0)
        if let index: Int32 = attributes[RouteAttribute.interface]?.number(at: 0) {
            add(route, through: index)
        } else if let hops = attributes[RouteAttribute.hops] {
            addHops(hops, of: route)
        } else if attributes[RouteAttribute.hopObject] != nil {
            // A route may name an object with its interfaces instead of the interfaces.
            add(route, through: 0)
        }
    }

    /// Adds the interfaces of a route that has several.
    private mutating func addHops(_ hops: NetlinkBytes, of route: Route) {
        var start = 0
        while let length: UInt16 = hops.number(at: start), length >= 8,
            let hop = hops.part(from: start, count: Int(length)),
            let flags: UInt8 = hop.number(at: 2), let index: Int32 = hop.number(at: 4)
        {
            if !Self.isDead(UInt32(flags)) { add(route, through: index) }
            start += Int(length).roundedUpToFour
        }
    }

    private mutating func add(_ route: Route, through index: Int32) {
        routes[index] = routes[index].map { min($0, route) } ?? route
    }

    /// Whether the flags of a route say that its interface is gone (`RTNH_F_DEAD`) or not connected (`RTNH_F_LINKDOWN`).
    private static func isDead(_ flags: UInt32) -> Bool { flags & (1 | 1 << 4) != 0 }

    /// Whether a route leads only to neighbours on the same link, by addresses that interfaces give themselves, or to
    /// groups of receivers.
    private static func isLocal(_ destination: NetlinkBytes?, _ length: UInt8, isIPv4: Bool) -> Bool {
        guard length >= 4, let first: UInt8 = destination?.number(at: 0), let second: UInt8 = destination?.number(at: 1)
        else { return false }
        return isIPv4
            ? first == 169 && second == 254 && length >= 16 || first >= 224
            : first == 0xFE && second & 0xC0 == 0x80 && length >= 10 || first == 0xFF && length >= 8
    }
}
