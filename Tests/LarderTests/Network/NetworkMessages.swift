@testable import LarderSystem

/// Messages as Linux sends them about interfaces and routes, made by hand.
enum NetworkMessages {
    /// The flags of an interface that is up, running and connected.
    static let connected: UInt32 = 1 | 1 << 6 | 1 << 16

    /// The message that ends an answer. `code` is negative where the answer is not complete.
    static func end(code: Int32 = 0, flags: UInt16 = 2) -> [UInt8] { message(3, flags: flags, bytes(code)) }

    /// The refusal of a request.
    static let refusal = message(2, bytes(Int32(-1)) + [UInt8](repeating: 0, count: 16))

    /// An interface.
    static func interface(
        _ index: Int32, _ name: String = "eth0", hardware: UInt16 = 1, driver: String? = nil, flags: UInt32 = connected
    ) -> [UInt8] {
        let details = driver.map { attribute(18, attribute(1, Array($0.utf8) + [0])) } ?? []
        let body = [0, 0] + bytes(hardware) + bytes(index) + bytes(flags) + bytes(UInt32(0))
        return message(16, body + attribute(3, Array(name.utf8) + [0]) + details)
    }

    /// A route. `destination` is the beginning of its address; missing bytes are zero.
    static func route(
        _ destination: [UInt8] = [], _ length: UInt8 = 0, isIPv4: Bool = true, type: UInt8 = 1, table: UInt32 = 254,
        metric: UInt32? = nil, flags: UInt32 = 0, by ways: [[UInt8]]
    ) -> [UInt8] {
        let address = destination + [UInt8](repeating: 0, count: (isIPv4 ? 4 : 16) - destination.count)
        let head: [UInt8] = [isIPv4 ? 2 : 10, length, 0, 0, UInt8(min(table, 254)), 3, 0, type]
        return message(
            24,
            head + bytes(flags) + attribute(15, bytes(table)) + (length > 0 ? attribute(1, address) : [])
                + (metric.map { attribute(6, bytes($0)) } ?? []) + ways.joined())
    }

    /// The interface of a route.
    static func through(_ index: Int32) -> [UInt8] { attribute(4, bytes(index)) }

    /// The interfaces of a route that has several, each with its flags.
    static func throughAll(_ hops: [(index: Int32, flags: UInt8)]) -> [UInt8] {
        // Each has a gateway of its own, which an attribute tells.
        let gateway = attribute(5, [192, 0, 2, 9])
        return attribute(9, hops.flatMap { bytes(UInt16(16)) + [$0.flags, 0] + bytes($0.index) + gateway })
    }

    /// The object that holds the interfaces of a route.
    static func throughObject(_ number: UInt32) -> [UInt8] { attribute(30, bytes(number)) }

    private static func message(_ type: UInt16, flags: UInt16 = 2, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt32(16 + body.count)) + bytes(type) + bytes(flags) + bytes(UInt32(1)) + bytes(UInt32(0)) + padded(body)
    }

    private static func attribute(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt16(4 + body.count)) + bytes(type) + padded(body)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
}

extension RoutingTable {
    /// The table that messages describe.
    init(_ messages: [UInt8]...) {
        self.init()
        for message in messages { _ = add(message[...]) }
    }
}
