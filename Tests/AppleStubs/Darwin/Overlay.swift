// swift-format-ignore-file
// Declarations that Swift's own part of the module `Darwin` has, beside those that it imports from C.

@_exported public import DarwinFunctions
@_exported public import DarwinTypes

// From github.com/swiftlang/swift/blob/main/stdlib/public/Platform/Platform.swift

public var errno: Int32 {
    get { fatalError() }
    set {}
}
public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { fatalError() }

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }

public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { fatalError() }

public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { fatalError() }

public var S_IFMT: mode_t { fatalError() }
public var S_IFDIR: mode_t { fatalError() }
public var S_IFREG: mode_t { fatalError() }
public var S_IFLNK: mode_t { fatalError() }
public var S_IRWXU: mode_t { fatalError() }
public var S_IRUSR: mode_t { fatalError() }
public var S_IWUSR: mode_t { fatalError() }
public var S_IXUSR: mode_t { fatalError() }

public var SIG_DFL: sig_t? { fatalError() }
public var SIG_IGN: sig_t { fatalError() }
public var SIG_ERR: sig_t { fatalError() }

@available(*, unavailable, message: "Please use threads or posix_spawn*()")
public func fork() -> Int32 { fatalError() }

// From github.com/swiftlang/swift/blob/main/stdlib/public/Platform/TiocConstants.swift

public var TIOCGWINSZ: UInt { fatalError() }

// From github.com/swiftlang/swift/blob/main/stdlib/public/Platform/Darwin.swift.gyb

public var MAP_FAILED: UnsafeMutableRawPointer! { fatalError() }

// From _time.h, as macros for `_CLOCK_REALTIME` and `_CLOCK_MONOTONIC`. Swift on Linux does not import such macros, but
// code for Apple's platforms uses these names.

public var CLOCK_REALTIME: clockid_t { fatalError() }
public var CLOCK_MONOTONIC: clockid_t { fatalError() }
