import LarderSimulation
import Testing

@testable import LarderSystem

@Suite struct RoutingTableTests {
    private typealias Messages = NetworkMessages

    @Test func recordedAnswersLeadOutThroughInterfaceOfDefaultRoute() {
        var table = RoutingTable()
        #expect(RecordedNetwork.interfaces.map { table.add($0[...]) } == [.more, .more, .complete])
        #expect(table.wayOut == nil)
        #expect(RecordedNetwork.routes.map { table.add($0[...]) } == [.more, .complete])
        #expect(
            table.wayOut
                == NetworkInterface(index: 3, name: "shop0", hardware: 1, driver: "veth", flags: 0x11043))
        #expect(table.isConsistent)
    }

    @Test func connectedSubnetLeadsOut() {
        let route = Messages.route([192, 0, 2], 24, by: [Messages.through(3)])
        #expect(RoutingTable(Messages.interface(3), route).wayOut?.index == 3)
        let other = Messages.route([0x20, 0x01, 0x0D, 0xB8], 64, isIPv4: false, by: [Messages.through(3)])
        #expect(RoutingTable(Messages.interface(3), other).wayOut?.index == 3)
    }

    @Test func interfaceLeadsNowhere() {
        let flags: [String: UInt32] = [
            "down": 1 << 6 | 1 << 16, "not running": 1 | 1 << 16, "not connected": 1 | 1 << 6,
            "loopback": Messages.connected | 1 << 3,
        ]
        let route = Messages.route(by: [Messages.through(1)])
        for (name, flags) in flags {
            #expect(RoutingTable(Messages.interface(1, flags: flags), route).wayOut == nil, "\(name)")
        }
        #expect(RoutingTable(Messages.interface(1), route).wayOut != nil)
    }

    @Test func routeLeadsNowhere() {
        let way = [Messages.through(3)]
        let routes: [String: [UInt8]] = [
            "local": Messages.route([192, 0, 2, 1], 32, type: 2, table: 255, by: way),
            "broadcast": Messages.route([192, 0, 2, 255], 32, type: 3, table: 255, by: way),
            "multicast": Messages.route([0xFF], 8, isIPv4: false, type: 5, table: 255, by: way),
            "multicast as unicast": Messages.route([0xFF], 8, isIPv4: false, table: 255, by: way),
            "multicast of IPv4": Messages.route([224], 4, by: way),
            "blackhole": Messages.route(type: 6, by: []),
            "unreachable": Messages.route(type: 7, by: way),
            "neighbours": Messages.route([0xFE, 0x80], 64, isIPv4: false, by: way),
            "neighbours of IPv4": Messages.route([169, 254], 16, by: way),
            "dead": Messages.route(flags: 1, by: way),
            "not connected": Messages.route(flags: 16, by: way),
            "other interface": Messages.route(by: [Messages.through(4)]),
            "dead hops": Messages.route(by: [Messages.throughAll([(3, 1), (3, 16)])]),
            "nothing": Messages.route(by: []),
        ]
        for (name, route) in routes {
            #expect(RoutingTable(Messages.interface(3), route).wayOut == nil, "\(name)")
        }
    }

    @Test func routeWithSeveralHopsLeadsThroughLivingOne() {
        let route = Messages.route(by: [Messages.throughAll([(3, 16), (4, 0)])])
        #expect(RoutingTable(Messages.interface(3), Messages.interface(4), route).wayOut?.index == 4)
    }

    @Test func routeThroughObjectLeadsThroughAnyInterface() {
        let route = Messages.route(by: [Messages.throughObject(7)])
        #expect(RoutingTable(route, Messages.interface(5)).wayOut?.index == 5)
        #expect(RoutingTable(route).wayOut == nil)
    }

    @Test func defaultRouteWithLowestMetricDecides() {
        let interfaces = (1...4).flatMap { Messages.interface(Int32($0)) }
        let routes = [
            Messages.route([192, 0, 2], 24, metric: 0, by: [Messages.through(1)]),
            Messages.route(metric: 600, by: [Messages.through(2)]),
            Messages.route(metric: 100, by: [Messages.through(3)]),
            Messages.route(table: 51_820, metric: 0, by: [Messages.through(4)]),
            Messages.route(isIPv4: false, metric: 1_024, by: [Messages.through(3)]),
        ]
        for order in [routes, routes.reversed()] {
            var table = RoutingTable(interfaces)
            for route in order { _ = table.add(route[...]) }
            #expect(table.wayOut?.index == 3)
            _ = table.add(Messages.interface(3, flags: 1)[...])
            #expect(table.wayOut?.index == 2)
        }
    }

    @Test func refusedAndUnfinishedAnswersFail() {
        var table = RoutingTable()
        #expect(table.add(Messages.refusal[...]) == .failed)
        #expect(table.add(Messages.end(code: -105)[...]) == .failed)
        #expect(table.add((Messages.interface(3) + Messages.end())[...]) == .complete)
        #expect(table.isConsistent)
        #expect(table.add(Messages.end(flags: 2 | 0x10)[...]) == .complete)
        #expect(!table.isConsistent)
    }
}

/// Bytes that no kernel sends. Reading beyond them would trap.
@Suite struct HostileNetworkBytesTests {
    private let recorded = RecordedNetwork.interfaces + RecordedNetwork.routes

    @Test func messagesThatAreCutOffFail() {
        for bytes in recorded {
            var table = RoutingTable()
            var wholes = 0
            for count in 1..<bytes.count where table.add(bytes[..<count]) != .failed { wholes += 1 }
            // Only between two messages is it not seen that something is missing.
            #expect(wholes < 30)
        }
    }

    @Test func bytesAroundMessagesAreNotRead() {
        for bytes in recorded {
            let surrounded = [UInt8](repeating: 0xFF, count: 9) + bytes + [UInt8](repeating: 0xFF, count: 9)
            var (table, other) = (RoutingTable(), RoutingTable())
            #expect(table.add(bytes[...]) == other.add(surrounded[9..<9 + bytes.count]))
            #expect(table.wayOut == other.wayOut)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func changedBytesAreReadWithoutHarm(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var table = RoutingTable()
            for whole in recorded {
                var bytes = whole
                for _ in 0...random.roll(20) {
                    let values: [UInt8] = [0, 1, 3, 4, 7, 0x7F, 0x80, 0xFF, UInt8(random.roll(256))]
                    bytes[random.roll(bytes.count)] = values[random.roll(values.count)]
                }
                _ = table.add(bytes.prefix(random.roll(3) == 0 ? random.roll(bytes.count) : bytes.count))
            }
            _ = table.wayOut
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func randomBytesAreReadWithoutHarm(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var body = (0..<random.roll(200)).map { _ in UInt8(random.roll(random.roll(2) == 0 ? 8 : 256)) }
            // Half of them begin like a message about an interface or a route.
            if body.count >= 16, random.roll(2) == 0 {
                withUnsafeBytes(of: UInt32(body.count)) { body.replaceSubrange(0..<4, with: $0) }
                withUnsafeBytes(of: UInt16(random.roll(2) == 0 ? 16 : 24)) { body.replaceSubrange(4..<6, with: $0) }
            }
            var table = RoutingTable()
            _ = table.add(body[...])
            _ = table.wayOut
        }
    }
}
