// swift-format-ignore-file
// Made from Apple's C headers by `Tests/darwin-headers --write`.
public import DarwinTypes

public var AF_INET: Int32 { fatalError() }
public var AF_INET6: Int32 { fatalError() }
public var AT_FDCWD: Int32 { fatalError() }
public var AT_REMOVEDIR: Int32 { fatalError() }
public var AT_SYMLINK_NOFOLLOW: Int32 { fatalError() }
public var EACCES: Int32 { fatalError() }
public var EAGAIN: Int32 { fatalError() }
public var ECANCELED: Int32 { fatalError() }
public var ECHO: Int32 { fatalError() }
public var EDQUOT: Int32 { fatalError() }
public var EEXIST: Int32 { fatalError() }
public var EFBIG: Int32 { fatalError() }
public var EINTR: Int32 { fatalError() }
public var EINVAL: Int32 { fatalError() }
public var EIO: Int32 { fatalError() }
public var EISDIR: Int32 { fatalError() }
public var ELOOP: Int32 { fatalError() }
public var ENOENT: Int32 { fatalError() }
public var ENOSPC: Int32 { fatalError() }
public var ENOTDIR: Int32 { fatalError() }
public var ENOTEMPTY: Int32 { fatalError() }
public var ENOTSUP: Int32 { fatalError() }
public var EOF: Int32 { fatalError() }
public var EROFS: Int32 { fatalError() }
public var ETIMEDOUT: Int32 { fatalError() }
public var EWOULDBLOCK: Int32 { fatalError() }
public var FD_CLOEXEC: Int32 { fatalError() }
public var F_FULLFSYNC: Int32 { fatalError() }
public var F_GETFL: Int32 { fatalError() }
public var F_OK: Int32 { fatalError() }
public var F_RDLCK: Int32 { fatalError() }
public var F_SETFD: Int32 { fatalError() }
public var F_SETFL: Int32 { fatalError() }
public var F_UNLCK: Int32 { fatalError() }
public var F_WRLCK: Int32 { fatalError() }
public var ICANON: Int32 { fatalError() }
public var IPPROTO_TCP: Int32 { fatalError() }
public var KERN_SUCCESS: Int32 { fatalError() }
public var LOCK_EX: Int32 { fatalError() }
public var LOCK_NB: Int32 { fatalError() }
public var LOCK_SH: Int32 { fatalError() }
public var LOCK_UN: Int32 { fatalError() }
public var MACH_TASK_BASIC_INFO: Int32 { fatalError() }
public var MAP_NORESERVE: Int32 { fatalError() }
public var MAP_PRIVATE: Int32 { fatalError() }
public var MAP_SHARED: Int32 { fatalError() }
public var MSG_PEEK: Int32 { fatalError() }
public var O_APPEND: Int32 { fatalError() }
public var O_CLOEXEC: Int32 { fatalError() }
public var O_CREAT: Int32 { fatalError() }
public var O_DIRECTORY: Int32 { fatalError() }
public var O_EVTONLY: Int32 { fatalError() }
public var O_EXCL: Int32 { fatalError() }
public var O_NOFOLLOW: Int32 { fatalError() }
public var O_NONBLOCK: Int32 { fatalError() }
public var O_RDONLY: Int32 { fatalError() }
public var O_RDWR: Int32 { fatalError() }
public var O_WRONLY: Int32 { fatalError() }
public var PATH_MAX: Int32 { fatalError() }
public var POLLIN: Int32 { fatalError() }
public var POLLOUT: Int32 { fatalError() }
public var PROT_READ: Int32 { fatalError() }
public var PROT_WRITE: Int32 { fatalError() }
public var PTHREAD_MUTEX_ERRORCHECK: Int32 { fatalError() }
public var RTLD_LOCAL: Int32 { fatalError() }
public var RTLD_NODELETE: Int32 { fatalError() }
public var RTLD_NOW: Int32 { fatalError() }
public var RUSAGE_SELF: Int32 { fatalError() }
public var SA_RESTART: Int32 { fatalError() }
public var SEEK_END: Int32 { fatalError() }
public var SEEK_SET: Int32 { fatalError() }
public var SHUT_RDWR: Int32 { fatalError() }
public var SIGABRT: Int32 { fatalError() }
public var SIGBUS: Int32 { fatalError() }
public var SIGFPE: Int32 { fatalError() }
public var SIGHUP: Int32 { fatalError() }
public var SIGILL: Int32 { fatalError() }
public var SIGINT: Int32 { fatalError() }
public var SIGKILL: Int32 { fatalError() }
public var SIGPIPE: Int32 { fatalError() }
public var SIGQUIT: Int32 { fatalError() }
public var SIGSEGV: Int32 { fatalError() }
public var SIGTERM: Int32 { fatalError() }
public var SIGTRAP: Int32 { fatalError() }
public var SIGUSR1: Int32 { fatalError() }
public var SIGUSR2: Int32 { fatalError() }
public var SIG_BLOCK: Int32 { fatalError() }
public var SOCK_STREAM: Int32 { fatalError() }
public var SOL_SOCKET: Int32 { fatalError() }
public var SO_LINGER: Int32 { fatalError() }
public var SO_NOSIGPIPE: Int32 { fatalError() }
public var TCP_NODELAY: Int32 { fatalError() }
public var TCSANOW: Int32 { fatalError() }
public var VMIN: Int32 { fatalError() }
public var VSUSP: Int32 { fatalError() }
public var VTIME: Int32 { fatalError() }
public var W_OK: Int32 { fatalError() }
public var X_OK: Int32 { fatalError() }
public var _PC_VDISABLE: Int32 { fatalError() }
public var _SC_NPROCESSORS_ONLN: Int32 { fatalError() }
@discardableResult public func abs(_: Int32) -> Int32 { fatalError() }
@discardableResult public func accept(_: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!) -> Int32 { fatalError() }
@discardableResult public func access(_: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func alarm(_: UInt32) -> UInt32 { fatalError() }
@discardableResult public func bind(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { fatalError() }
@discardableResult public func chmod(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func clock() -> clock_t { fatalError() }
@discardableResult public func clock_gettime(_ __clock_id: clockid_t, _ __tp: UnsafeMutablePointer<timespec>!) -> Int32 { fatalError() }
@discardableResult public func close(_: Int32) -> Int32 { fatalError() }
@discardableResult public func closedir(_: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }
@discardableResult public func connect(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { fatalError() }
@discardableResult public func cos(_: Double) -> Double { fatalError() }
@discardableResult public func dirfd(_ dirp: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }
@discardableResult public func div(_: Int32, _: Int32) -> div_t { fatalError() }
@discardableResult public func dlclose(_: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
@discardableResult public func dlopen(_: UnsafePointer<CChar>!, _: Int32) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func dlsym(_: UnsafeMutableRawPointer!, _: UnsafePointer<CChar>!) -> UnsafeMutableRawPointer! { fatalError() }
public func exit(_: Int32) -> Never { fatalError() }
@discardableResult public func exp(_: Double) -> Double { fatalError() }
@discardableResult public func fchmod(_: Int32, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func fdopendir(_: Int32) -> UnsafeMutablePointer<DIR>! { fatalError() }
@discardableResult public func flock(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fpathconf(_: Int32, _: Int32) -> Int { fatalError() }
public func free(_: UnsafeMutableRawPointer!) { fatalError() }
@discardableResult public func fstat(_: Int32, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
@discardableResult public func fstatat(_: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func fsync(_: Int32) -> Int32 { fatalError() }
@discardableResult public func ftruncate(_: Int32, _: off_t) -> Int32 { fatalError() }
@discardableResult public func futimens(_ __fd: Int32, _ __times: UnsafePointer<timespec>!) -> Int32 { fatalError() }
@discardableResult public func getenv(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func gethostname(_: UnsafeMutablePointer<CChar>!, _ __namelen: Int) -> Int32 { fatalError() }
@discardableResult public func getpid() -> pid_t { fatalError() }
@discardableResult public func getppid() -> pid_t { fatalError() }
@discardableResult public func getrusage(_: Int32, _: UnsafeMutablePointer<rusage>!) -> Int32 { fatalError() }
@discardableResult public func getsockname(_: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!) -> Int32 { fatalError() }
@discardableResult public func gmtime_r(_: UnsafePointer<time_t>!, _: UnsafeMutablePointer<tm>!) -> UnsafeMutablePointer<tm>! { fatalError() }
public var in6addr_loopback: in6_addr { fatalError() }
@discardableResult public func index(_: UnsafePointer<CChar>!, _: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func isatty(_: Int32) -> Int32 { fatalError() }
@discardableResult public func kill(_: pid_t, _: Int32) -> Int32 { fatalError() }
@discardableResult public func link(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func linkat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func listen(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func log(_: Double) -> Double { fatalError() }
@discardableResult public func log10(_: Double) -> Double { fatalError() }
@discardableResult public func lseek(_: Int32, _: off_t, _: Int32) -> off_t { fatalError() }
@discardableResult public func lstat(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
public var mach_task_self_: mach_port_t { get { fatalError() } set {} }
@discardableResult public func memchr(_ __s: UnsafeRawPointer!, _ __c: Int32, _ __n: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func mkdir(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func mkfifo(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }
@discardableResult public func mmap(_: UnsafeMutableRawPointer!, _: Int, _: Int32, _: Int32, _: Int32, _: off_t) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult public func munmap(_: UnsafeMutableRawPointer!, _: Int) -> Int32 { fatalError() }
@discardableResult public func opendir(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { fatalError() }
public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { fatalError() }
@discardableResult public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool { fatalError() }
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { fatalError() }
@discardableResult public func pause() -> Int32 { fatalError() }
@discardableResult public func pipe(_: UnsafeMutablePointer<Int32>!) -> Int32 { fatalError() }
@discardableResult public func poll(_: UnsafeMutablePointer<pollfd>!, _: nfds_t, _: Int32) -> Int32 { fatalError() }
@discardableResult public func pow(_: Double, _: Double) -> Double { fatalError() }
@discardableResult public func pread(_ __fd: Int32, _ __buf: UnsafeMutableRawPointer!, _ __nbyte: Int, _ __offset: off_t) -> Int { fatalError() }
@discardableResult public func pthread_cond_broadcast(_: UnsafeMutablePointer<pthread_cond_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_cond_destroy(_: UnsafeMutablePointer<pthread_cond_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_cond_init(_: UnsafeMutablePointer<pthread_cond_t>, _: UnsafePointer<pthread_condattr_t>?) -> Int32 { fatalError() }
@discardableResult public func pthread_cond_signal(_: UnsafeMutablePointer<pthread_cond_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_cond_timedwait(_: UnsafeMutablePointer<pthread_cond_t>, _: UnsafeMutablePointer<pthread_mutex_t>, _: UnsafePointer<timespec>?) -> Int32 { fatalError() }
@discardableResult public func pthread_cond_wait(_: UnsafeMutablePointer<pthread_cond_t>, _: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_create(_: UnsafeMutablePointer<pthread_t?>!, _: UnsafePointer<pthread_attr_t>?, _: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> Int32 { fatalError() }
@discardableResult public func pthread_detach(_: pthread_t) -> Int32 { fatalError() }
@discardableResult public func pthread_getspecific(_: pthread_key_t) -> UnsafeMutableRawPointer? { fatalError() }
@discardableResult public func pthread_key_create(_: UnsafeMutablePointer<pthread_key_t>, _: (@convention(c) (UnsafeMutableRawPointer) -> Void)?) -> Int32 { fatalError() }
@discardableResult public func pthread_key_delete(_: pthread_key_t) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_destroy(_: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_init(_: UnsafeMutablePointer<pthread_mutex_t>, _: UnsafePointer<pthread_mutexattr_t>?) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_lock(_: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_trylock(_: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutex_unlock(_: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutexattr_destroy(_: UnsafeMutablePointer<pthread_mutexattr_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutexattr_init(_: UnsafeMutablePointer<pthread_mutexattr_t>) -> Int32 { fatalError() }
@discardableResult public func pthread_mutexattr_settype(_: UnsafeMutablePointer<pthread_mutexattr_t>, _: Int32) -> Int32 { fatalError() }
@discardableResult public func pthread_self() -> pthread_t { fatalError() }
@discardableResult public func pthread_setspecific(_: pthread_key_t, _: UnsafeRawPointer?) -> Int32 { fatalError() }
@discardableResult public func pthread_sigmask(_: Int32, _: UnsafePointer<sigset_t>?, _: UnsafeMutablePointer<sigset_t>?) -> Int32 { fatalError() }
@discardableResult public func pwrite(_ __fd: Int32, _ __buf: UnsafeRawPointer!, _ __nbyte: Int, _ __offset: off_t) -> Int { fatalError() }
@discardableResult public func raise(_: Int32) -> Int32 { fatalError() }
@discardableResult public func read(_: Int32, _: UnsafeMutableRawPointer!, _ __nbyte: Int) -> Int { fatalError() }
@discardableResult public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
@discardableResult public func readlink(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!, _ __bufsize: Int) -> Int { fatalError() }
@discardableResult public func realpath(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func recv(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: Int32) -> Int { fatalError() }
@discardableResult public func remainder(_: Double, _: Double) -> Double { fatalError() }
@discardableResult public func remove(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func rename(_ __old: UnsafePointer<CChar>!, _ __new: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func renameat(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func rmdir(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func round(_: Double) -> Double { fatalError() }
@discardableResult public func sched_yield() -> Int32 { fatalError() }
@discardableResult public func select(_: Int32, _: UnsafeMutablePointer<fd_set>!, _: UnsafeMutablePointer<fd_set>!, _: UnsafeMutablePointer<fd_set>!, _: UnsafeMutablePointer<timeval>!) -> Int32 { fatalError() }
@discardableResult public func send(_: Int32, _: UnsafeRawPointer!, _: Int, _: Int32) -> Int { fatalError() }
@discardableResult public func setsockopt(_: Int32, _: Int32, _: Int32, _: UnsafeRawPointer!, _: socklen_t) -> Int32 { fatalError() }
@discardableResult public func shutdown(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func sigaction(_: Int32, _: UnsafePointer<sigaction>!, _: UnsafeMutablePointer<sigaction>!) -> Int32 { fatalError() }
@discardableResult public func sigdelset(_: UnsafeMutablePointer<sigset_t>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func sigfillset(_: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult public func sigismember(_: UnsafePointer<sigset_t>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func signal(_: Int32, _: (@convention(c) (Int32) -> Void)!) -> (@convention(c) (Int32) -> Void)! { fatalError() }
@discardableResult public func sleep(_: UInt32) -> UInt32 { fatalError() }
@discardableResult public func socket(_: Int32, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func sqrt(_: Double) -> Double { fatalError() }
@discardableResult public func stat(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
@discardableResult public func statvfs(_: UnsafePointer<CChar>!, _: UnsafeMutablePointer<statvfs>!) -> Int32 { fatalError() }
@discardableResult public func strcmp(_ __s1: UnsafePointer<CChar>!, _ __s2: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func strerror(_ __errnum: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult public func strlen(_ __s: UnsafePointer<CChar>!) -> Int { fatalError() }
public func sync() { fatalError() }
@discardableResult public func sysconf(_: Int32) -> Int { fatalError() }
@discardableResult public func task_info(_ target_task: task_name_t, _ flavor: task_flavor_t, _ task_info_out: task_info_t!, _ task_info_outCnt: UnsafeMutablePointer<mach_msg_type_number_t>!) -> kern_return_t { fatalError() }
@discardableResult public func tcgetattr(_: Int32, _: UnsafeMutablePointer<termios>!) -> Int32 { fatalError() }
@discardableResult public func tcsetattr(_: Int32, _: Int32, _: UnsafePointer<termios>!) -> Int32 { fatalError() }
@discardableResult public func time(_: UnsafeMutablePointer<time_t>!) -> time_t { fatalError() }
@discardableResult public func timegm(_: UnsafeMutablePointer<tm>!) -> time_t { fatalError() }
@discardableResult public func times(_: UnsafeMutablePointer<tms>!) -> clock_t { fatalError() }
@discardableResult public func unlink(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult public func unlinkat(_: Int32, _: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
@discardableResult public func usleep(_: useconds_t) -> Int32 { fatalError() }
@discardableResult public func wait(_: UnsafeMutablePointer<Int32>!) -> pid_t { fatalError() }
@discardableResult public func write(_ __fd: Int32, _ __buf: UnsafeRawPointer!, _ __nbyte: Int) -> Int { fatalError() }
