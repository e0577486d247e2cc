// Apple's Dispatch. Its sources are `Sendable`, and there are more of them than in the toolchain's module.
// Missing on macOS, iOS, tvOS, watchOS, visionOS: DispatchSource, DispatchSourceProtocol, DispatchSourceTimer, DispatchSourceSignal
// swift-format-ignore-file
public import Dispatch
@_exported public import Darwin

// From developer.apple.com/documentation/dispatch/dispatchtime

public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { fatalError() }
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }

// From developer.apple.com/documentation/dispatch/dispatchsourceprotocol

public protocol DispatchSourceProtocol: AnyObject {}

extension DispatchSourceProtocol {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        handler: (@convention(block) () -> Void)?) {}
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        handler: (@convention(block) () -> Void)?) {}
    public func cancel() {}
    public func resume() {}
    public func suspend() {}
    @available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
    public func activate() {}
}

// From developer.apple.com/documentation/dispatch/dispatchsourcetimer

public protocol DispatchSourceTimer: DispatchSourceProtocol, Sendable {}

extension DispatchSourceTimer {
    public func schedule(
        deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)) {}
    public func schedule(deadline: DispatchTime, repeating interval: Double, leeway: DispatchTimeInterval = .nanoseconds(0)) {}
}

// From developer.apple.com/documentation/dispatch/dispatchsourcesignal

public protocol DispatchSourceSignal: DispatchSourceProtocol, Sendable {}

// From developer.apple.com/documentation/dispatch/dispatchsourcefilesystemobject

public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol, Sendable {
    var data: DispatchSource.FileSystemEvent { get }
}

// From developer.apple.com/documentation/dispatch/dispatchsourcememorypressure

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol, Sendable {
    var data: DispatchSource.MemoryPressureEvent { get }
}

// From developer.apple.com/documentation/dispatch/dispatchsource

public class DispatchSource {
    public struct FileSystemEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var delete: FileSystemEvent { fatalError() }
        public static var write: FileSystemEvent { fatalError() }
        public static var extend: FileSystemEvent { fatalError() }
        public static var attrib: FileSystemEvent { fatalError() }
        public static var link: FileSystemEvent { fatalError() }
        public static var rename: FileSystemEvent { fatalError() }
        public static var revoke: FileSystemEvent { fatalError() }
        public static var all: FileSystemEvent { fatalError() }
    }

    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var normal: MemoryPressureEvent { fatalError() }
        public static var warning: MemoryPressureEvent { fatalError() }
        public static var critical: MemoryPressureEvent { fatalError() }
        public static var all: MemoryPressureEvent { fatalError() }
    }

    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var strict: TimerFlags { fatalError() }
    }

    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError() }
    public class func makeMemoryPressureSource(
        eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure { fatalError() }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal { fatalError() }
    public class func makeTimerSource(
        flags: TimerFlags = [], queue: DispatchQueue? = nil
    ) -> any DispatchSourceTimer { fatalError() }
}
