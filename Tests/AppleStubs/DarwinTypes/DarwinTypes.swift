// swift-format-ignore-file
// Made from Apple's C headers by `Tests/darwin-headers --write`.
@frozen public struct DIR {
    public init() { fatalError() }
    public init(__dd_fd: Int32, __dd_loc: Int, __dd_size: Int, __dd_buf: UnsafeMutablePointer<CChar>!, __dd_len: Int32, __dd_seek: Int, __padding: Int, __dd_flags: Int32, __dd_lock: __darwin_pthread_mutex_t, __dd_td: OpaquePointer!) { fatalError() }
    public var __dd_fd: Int32
    public var __dd_loc: Int
    public var __dd_size: Int
    public var __dd_buf: UnsafeMutablePointer<CChar>!
    public var __dd_len: Int32
    public var __dd_seek: Int
    public var __padding: Int
    public var __dd_flags: Int32
    public var __dd_lock: __darwin_pthread_mutex_t
    public var __dd_td: OpaquePointer!
}
public typealias __darwin_blkcnt_t = __int64_t
public typealias __darwin_blksize_t = __int32_t
public typealias __darwin_clock_t = UInt
public typealias __darwin_dev_t = __int32_t
public typealias __darwin_fsblkcnt_t = UInt32
public typealias __darwin_fsfilcnt_t = UInt32
public typealias __darwin_gid_t = __uint32_t
public typealias __darwin_ino64_t = __uint64_t
public typealias __darwin_mach_port_name_t = __darwin_natural_t
public typealias __darwin_mach_port_t = __darwin_mach_port_name_t
public typealias __darwin_mode_t = __uint16_t
public typealias __darwin_natural_t = UInt32
public typealias __darwin_off_t = __int64_t
public typealias __darwin_pid_t = __int32_t
public typealias __darwin_pthread_attr_t = _opaque_pthread_attr_t
public typealias __darwin_pthread_cond_t = _opaque_pthread_cond_t
public typealias __darwin_pthread_condattr_t = _opaque_pthread_condattr_t
@frozen public struct __darwin_pthread_handler_rec {
    public init() { fatalError() }
    public init(__routine: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!, __arg: UnsafeMutableRawPointer!, __next: UnsafeMutablePointer<__darwin_pthread_handler_rec>!) { fatalError() }
    public var __routine: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
    public var __arg: UnsafeMutableRawPointer!
    public var __next: UnsafeMutablePointer<__darwin_pthread_handler_rec>!
}
public typealias __darwin_pthread_key_t = UInt
public typealias __darwin_pthread_mutex_t = _opaque_pthread_mutex_t
public typealias __darwin_pthread_mutexattr_t = _opaque_pthread_mutexattr_t
public typealias __darwin_pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias __darwin_sigset_t = __uint32_t
public typealias __darwin_socklen_t = __uint32_t
public typealias __darwin_suseconds_t = __int32_t
public typealias __darwin_time_t = Int
public typealias __darwin_uid_t = __uint32_t
public typealias __darwin_useconds_t = __uint32_t
public typealias __int32_t = Int32
public typealias __int64_t = Int64
@frozen public struct __sigaction_u {
    public init(__sa_handler: (@convention(c) (Int32) -> Void)!) { fatalError() }
    public init(__sa_sigaction: (OpaquePointer)!) { fatalError() }
    public init() { fatalError() }
    public var __sa_handler: (@convention(c) (Int32) -> Void)!
    public var __sa_sigaction: (OpaquePointer)!
}
@frozen public struct __siginfo {
    public init() { fatalError() }
    public init(si_signo: Int32, si_errno: Int32, si_code: Int32, si_pid: pid_t, si_uid: uid_t, si_status: Int32, si_addr: UnsafeMutableRawPointer!, si_value: sigval, si_band: Int, __pad: (UInt, UInt, UInt, UInt, UInt, UInt, UInt)) { fatalError() }
    public var si_signo: Int32
    public var si_errno: Int32
    public var si_code: Int32
    public var si_pid: pid_t
    public var si_uid: uid_t
    public var si_status: Int32
    public var si_addr: UnsafeMutableRawPointer!
    public var si_value: sigval
    public var si_band: Int
    public var __pad: (UInt, UInt, UInt, UInt, UInt, UInt, UInt)
}
public typealias __uint16_t = UInt16
public typealias __uint32_t = UInt32
public typealias __uint64_t = UInt64
public typealias __uint8_t = UInt8
@frozen public struct _opaque_pthread_attr_t {
    public init() { fatalError() }
    public init(__sig: Int, __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var __sig: Int
    public var __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct _opaque_pthread_cond_t {
    public init() { fatalError() }
    public init(__sig: Int, __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var __sig: Int
    public var __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct _opaque_pthread_condattr_t {
    public init() { fatalError() }
    public init(__sig: Int, __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var __sig: Int
    public var __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct _opaque_pthread_mutex_t {
    public init() { fatalError() }
    public init(__sig: Int, __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var __sig: Int
    public var __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct _opaque_pthread_mutexattr_t {
    public init() { fatalError() }
    public init(__sig: Int, __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var __sig: Int
    public var __opaque: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct _opaque_pthread_t {
    public init() { fatalError() }
    public var __sig: Int
    public var __cleanup_stack: UnsafeMutablePointer<__darwin_pthread_handler_rec>!
}
public typealias blkcnt_t = __darwin_blkcnt_t
public typealias blksize_t = __darwin_blksize_t
public typealias cc_t = UInt8
public typealias clock_t = __darwin_clock_t
@frozen public struct clockid_t : Hashable, Equatable, RawRepresentable {
    public init(_ rawValue: UInt32) { fatalError() }
    public init(rawValue: UInt32) { fatalError() }
    public var rawValue: UInt32
}
public typealias dev_t = __darwin_dev_t
@frozen public struct dirent {
    public init() { fatalError() }
    public init(d_ino: __uint64_t, d_seekoff: __uint64_t, d_reclen: __uint16_t, d_namlen: __uint16_t, d_type: __uint8_t, d_name: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var d_ino: __uint64_t
    public var d_seekoff: __uint64_t
    public var d_reclen: __uint16_t
    public var d_namlen: __uint16_t
    public var d_type: __uint8_t
    public var d_name: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct div_t {
    public init() { fatalError() }
    public init(quot: Int32, rem: Int32) { fatalError() }
    public var quot: Int32
    public var rem: Int32
}
@frozen public struct fd_set {
    public init() { fatalError() }
    public init(fds_bits: (__int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t)) { fatalError() }
    public var fds_bits: (__int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t, __int32_t)
}
@frozen public struct flock {
    public init() { fatalError() }
    public init(l_start: off_t, l_len: off_t, l_pid: pid_t, l_type: Int16, l_whence: Int16) { fatalError() }
    public var l_start: off_t
    public var l_len: off_t
    public var l_pid: pid_t
    public var l_type: Int16
    public var l_whence: Int16
}
public typealias fsblkcnt_t = __darwin_fsblkcnt_t
public typealias fsfilcnt_t = __darwin_fsfilcnt_t
public typealias gid_t = __darwin_gid_t
@frozen public struct group {
    public init() { fatalError() }
    public init(gr_name: UnsafeMutablePointer<CChar>!, gr_passwd: UnsafeMutablePointer<CChar>!, gr_gid: gid_t, gr_mem: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!) { fatalError() }
    public var gr_name: UnsafeMutablePointer<CChar>!
    public var gr_passwd: UnsafeMutablePointer<CChar>!
    public var gr_gid: gid_t
    public var gr_mem: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
}
@frozen public struct in6_addr {
    public init() { fatalError() }
    public init(__u6_addr: in6_addr.__Unnamed_union___u6_addr) { fatalError() }
    public struct __Unnamed_union___u6_addr {
        public init(__u6_addr8: (__uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t)) { fatalError() }
        public init(__u6_addr16: (__uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t)) { fatalError() }
        public init(__u6_addr32: (__uint32_t, __uint32_t, __uint32_t, __uint32_t)) { fatalError() }
        public init() { fatalError() }
        public var __u6_addr8: (__uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t, __uint8_t)
        public var __u6_addr16: (__uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t, __uint16_t)
        public var __u6_addr32: (__uint32_t, __uint32_t, __uint32_t, __uint32_t)
    }
    public var __u6_addr: in6_addr.__Unnamed_union___u6_addr
}
@frozen public struct in_addr {
    public init() { fatalError() }
    public init(s_addr: in_addr_t) { fatalError() }
    public var s_addr: in_addr_t
}
public typealias in_addr_t = __uint32_t
public typealias in_port_t = __uint16_t
public typealias integer_t = Int32
public typealias kern_return_t = Int32
@frozen public struct linger {
    public init() { fatalError() }
    public init(l_onoff: Int32, l_linger: Int32) { fatalError() }
    public var l_onoff: Int32
    public var l_linger: Int32
}
public typealias mach_msg_type_number_t = natural_t
public typealias mach_port_t = __darwin_mach_port_t
@frozen public struct mach_task_basic_info {
    public init() { fatalError() }
    public init(virtual_size: mach_vm_size_t, resident_size: mach_vm_size_t, resident_size_max: mach_vm_size_t, user_time: time_value_t, system_time: time_value_t, policy: policy_t, suspend_count: integer_t) { fatalError() }
    public var virtual_size: mach_vm_size_t
    public var resident_size: mach_vm_size_t
    public var resident_size_max: mach_vm_size_t
    public var user_time: time_value_t
    public var system_time: time_value_t
    public var policy: policy_t
    public var suspend_count: integer_t
}
public typealias mach_vm_size_t = UInt64
public typealias mode_t = __darwin_mode_t
public typealias natural_t = __darwin_natural_t
public typealias nfds_t = UInt32
public typealias nlink_t = __uint16_t
public typealias off_t = __darwin_off_t
public typealias os_unfair_lock = os_unfair_lock_s
@frozen public struct os_unfair_lock_s {
    public init() { fatalError() }
    public init(_os_unfair_lock_opaque: UInt32) { fatalError() }
    public var _os_unfair_lock_opaque: UInt32
}
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock_s>
public typealias pid_t = __darwin_pid_t
public typealias policy_t = Int32
@frozen public struct pollfd {
    public init() { fatalError() }
    public init(fd: Int32, events: Int16, revents: Int16) { fatalError() }
    public var fd: Int32
    public var events: Int16
    public var revents: Int16
}
public typealias pthread_attr_t = __darwin_pthread_attr_t
public typealias pthread_cond_t = __darwin_pthread_cond_t
public typealias pthread_condattr_t = __darwin_pthread_condattr_t
public typealias pthread_key_t = __darwin_pthread_key_t
public typealias pthread_mutex_t = __darwin_pthread_mutex_t
public typealias pthread_mutexattr_t = __darwin_pthread_mutexattr_t
public typealias pthread_t = __darwin_pthread_t
@frozen public struct rusage {
    public init() { fatalError() }
    public init(ru_utime: timeval, ru_stime: timeval, ru_maxrss: Int, ru_ixrss: Int, ru_idrss: Int, ru_isrss: Int, ru_minflt: Int, ru_majflt: Int, ru_nswap: Int, ru_inblock: Int, ru_oublock: Int, ru_msgsnd: Int, ru_msgrcv: Int, ru_nsignals: Int, ru_nvcsw: Int, ru_nivcsw: Int) { fatalError() }
    public var ru_utime: timeval
    public var ru_stime: timeval
    public var ru_maxrss: Int
    public var ru_ixrss: Int
    public var ru_idrss: Int
    public var ru_isrss: Int
    public var ru_minflt: Int
    public var ru_majflt: Int
    public var ru_nswap: Int
    public var ru_inblock: Int
    public var ru_oublock: Int
    public var ru_msgsnd: Int
    public var ru_msgrcv: Int
    public var ru_nsignals: Int
    public var ru_nvcsw: Int
    public var ru_nivcsw: Int
}
public typealias sa_family_t = __uint8_t
@frozen public struct section {
    public init() { fatalError() }
    public init(sectname: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar), segname: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar), addr: UInt32, size: UInt32, offset: UInt32, align: UInt32, reloff: UInt32, nreloc: UInt32, flags: UInt32, reserved1: UInt32, reserved2: UInt32) { fatalError() }
    public var sectname: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
    public var segname: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
    public var addr: UInt32
    public var size: UInt32
    public var offset: UInt32
    public var align: UInt32
    public var reloff: UInt32
    public var nreloc: UInt32
    public var flags: UInt32
    public var reserved1: UInt32
    public var reserved2: UInt32
}
public typealias sig_t = @convention(c) (Int32) -> Void
@frozen public struct sigaction {
    public init() { fatalError() }
    public init(__sigaction_u: __sigaction_u, sa_mask: sigset_t, sa_flags: Int32) { fatalError() }
    public var __sigaction_u: __sigaction_u
    public var sa_mask: sigset_t
    public var sa_flags: Int32
}
public typealias sigset_t = __darwin_sigset_t
@frozen public struct sigval {
    public init(sival_int: Int32) { fatalError() }
    public init(sival_ptr: UnsafeMutableRawPointer!) { fatalError() }
    public init() { fatalError() }
    public var sival_int: Int32
    public var sival_ptr: UnsafeMutableRawPointer!
}
@frozen public struct sockaddr {
    public init() { fatalError() }
    public init(sa_len: __uint8_t, sa_family: sa_family_t, sa_data: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var sa_len: __uint8_t
    public var sa_family: sa_family_t
    public var sa_data: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct sockaddr_in {
    public init() { fatalError() }
    public init(sin_len: __uint8_t, sin_family: sa_family_t, sin_port: in_port_t, sin_addr: in_addr, sin_zero: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)) { fatalError() }
    public var sin_len: __uint8_t
    public var sin_family: sa_family_t
    public var sin_port: in_port_t
    public var sin_addr: in_addr
    public var sin_zero: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
}
@frozen public struct sockaddr_in6 {
    public init() { fatalError() }
    public init(sin6_len: __uint8_t, sin6_family: sa_family_t, sin6_port: in_port_t, sin6_flowinfo: __uint32_t, sin6_addr: in6_addr, sin6_scope_id: __uint32_t) { fatalError() }
    public var sin6_len: __uint8_t
    public var sin6_family: sa_family_t
    public var sin6_port: in_port_t
    public var sin6_flowinfo: __uint32_t
    public var sin6_addr: in6_addr
    public var sin6_scope_id: __uint32_t
}
public typealias socklen_t = __darwin_socklen_t
public typealias speed_t = UInt
@frozen public struct stat {
    public init() { fatalError() }
    public init(st_dev: dev_t, st_mode: mode_t, st_nlink: nlink_t, st_ino: __darwin_ino64_t, st_uid: uid_t, st_gid: gid_t, st_rdev: dev_t, st_atimespec: timespec, st_mtimespec: timespec, st_ctimespec: timespec, st_birthtimespec: timespec, st_size: off_t, st_blocks: blkcnt_t, st_blksize: blksize_t, st_flags: __uint32_t, st_gen: __uint32_t, st_lspare: __int32_t, st_qspare: (__int64_t, __int64_t)) { fatalError() }
    public var st_dev: dev_t
    public var st_mode: mode_t
    public var st_nlink: nlink_t
    public var st_ino: __darwin_ino64_t
    public var st_uid: uid_t
    public var st_gid: gid_t
    public var st_rdev: dev_t
    public var st_atimespec: timespec
    public var st_mtimespec: timespec
    public var st_ctimespec: timespec
    public var st_birthtimespec: timespec
    public var st_size: off_t
    public var st_blocks: blkcnt_t
    public var st_blksize: blksize_t
    public var st_flags: __uint32_t
    public var st_gen: __uint32_t
    public var st_lspare: __int32_t
    public var st_qspare: (__int64_t, __int64_t)
}
@frozen public struct statvfs {
    public init() { fatalError() }
    public init(f_bsize: UInt, f_frsize: UInt, f_blocks: fsblkcnt_t, f_bfree: fsblkcnt_t, f_bavail: fsblkcnt_t, f_files: fsfilcnt_t, f_ffree: fsfilcnt_t, f_favail: fsfilcnt_t, f_fsid: UInt, f_flag: UInt, f_namemax: UInt) { fatalError() }
    public var f_bsize: UInt
    public var f_frsize: UInt
    public var f_blocks: fsblkcnt_t
    public var f_bfree: fsblkcnt_t
    public var f_bavail: fsblkcnt_t
    public var f_files: fsfilcnt_t
    public var f_ffree: fsfilcnt_t
    public var f_favail: fsfilcnt_t
    public var f_fsid: UInt
    public var f_flag: UInt
    public var f_namemax: UInt
}
public typealias task_flavor_t = natural_t
public typealias task_info_t = UnsafeMutablePointer<integer_t>
public typealias task_name_t = mach_port_t
public typealias tcflag_t = UInt
@frozen public struct termios {
    public init() { fatalError() }
    public init(c_iflag: tcflag_t, c_oflag: tcflag_t, c_cflag: tcflag_t, c_lflag: tcflag_t, c_cc: (cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t), c_ispeed: speed_t, c_ospeed: speed_t) { fatalError() }
    public var c_iflag: tcflag_t
    public var c_oflag: tcflag_t
    public var c_cflag: tcflag_t
    public var c_lflag: tcflag_t
    public var c_cc: (cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t, cc_t)
    public var c_ispeed: speed_t
    public var c_ospeed: speed_t
}
public typealias time_t = __darwin_time_t
@frozen public struct time_value {
    public init() { fatalError() }
    public init(seconds: integer_t, microseconds: integer_t) { fatalError() }
    public var seconds: integer_t
    public var microseconds: integer_t
}
public typealias time_value_t = time_value
@frozen public struct timespec {
    public init() { fatalError() }
    public init(tv_sec: __darwin_time_t, tv_nsec: Int) { fatalError() }
    public var tv_sec: __darwin_time_t
    public var tv_nsec: Int
}
@frozen public struct timeval {
    public init() { fatalError() }
    public init(tv_sec: __darwin_time_t, tv_usec: __darwin_suseconds_t) { fatalError() }
    public var tv_sec: __darwin_time_t
    public var tv_usec: __darwin_suseconds_t
}
@frozen public struct tm {
    public init() { fatalError() }
    public init(tm_sec: Int32, tm_min: Int32, tm_hour: Int32, tm_mday: Int32, tm_mon: Int32, tm_year: Int32, tm_wday: Int32, tm_yday: Int32, tm_isdst: Int32, tm_gmtoff: Int, tm_zone: UnsafeMutablePointer<CChar>!) { fatalError() }
    public var tm_sec: Int32
    public var tm_min: Int32
    public var tm_hour: Int32
    public var tm_mday: Int32
    public var tm_mon: Int32
    public var tm_year: Int32
    public var tm_wday: Int32
    public var tm_yday: Int32
    public var tm_isdst: Int32
    public var tm_gmtoff: Int
    public var tm_zone: UnsafeMutablePointer<CChar>!
}
@frozen public struct tms {
    public init() { fatalError() }
    public init(tms_utime: clock_t, tms_stime: clock_t, tms_cutime: clock_t, tms_cstime: clock_t) { fatalError() }
    public var tms_utime: clock_t
    public var tms_stime: clock_t
    public var tms_cutime: clock_t
    public var tms_cstime: clock_t
}
public typealias uid_t = __darwin_uid_t
public typealias useconds_t = __darwin_useconds_t
@frozen public struct wait {
    public init(w_status: Int32) { fatalError() }
    public init(w_T: wait.__Unnamed_struct_w_T) { fatalError() }
    public init(w_S: wait.__Unnamed_struct_w_S) { fatalError() }
    public init() { fatalError() }
    public struct __Unnamed_struct_w_T {
        public init() { fatalError() }
        public init(w_Termsig: UInt32, w_Coredump: UInt32, w_Retcode: UInt32, w_Filler: UInt32) { fatalError() }
        public var w_Termsig: UInt32
        public var w_Coredump: UInt32
        public var w_Retcode: UInt32
        public var w_Filler: UInt32
    }
    public struct __Unnamed_struct_w_S {
        public init() { fatalError() }
        public init(w_Stopval: UInt32, w_Stopsig: UInt32, w_Filler: UInt32) { fatalError() }
        public var w_Stopval: UInt32
        public var w_Stopsig: UInt32
        public var w_Filler: UInt32
    }
    public var w_status: Int32
    public var w_T: wait.__Unnamed_struct_w_T
    public var w_S: wait.__Unnamed_struct_w_S
}
@frozen public struct winsize {
    public init() { fatalError() }
    public init(ws_row: UInt16, ws_col: UInt16, ws_xpixel: UInt16, ws_ypixel: UInt16) { fatalError() }
    public var ws_row: UInt16
    public var ws_col: UInt16
    public var ws_xpixel: UInt16
    public var ws_ypixel: UInt16
}
