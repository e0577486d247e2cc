// swift-format-ignore-file
public import AppleDispatch
public import Dispatch

// From developer.apple.com/documentation/network/nwpath

@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
public struct NWPath: Equatable, Sendable {
    // From developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Equatable, Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
    public let isExpensive: Bool
    @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
    public var isConstrained: Bool { fatalError() }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { fatalError() }
}

// From developer.apple.com/documentation/network/nwinterface/interfacetype

@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }
}

// From developer.apple.com/documentation/network/nwpathmonitor. Its Swift interface in the SDK has the attributes.

@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
final public class NWPathMonitor {
    public init() {}
    final public var currentPath: NWPath { fatalError() }
    @preconcurrency final public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { fatalError() }
        set {}
    }
    final public func start(queue: DispatchQueue) {}
    final public func cancel() {}
}

@available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
extension NWPathMonitor: @unchecked Sendable {}
