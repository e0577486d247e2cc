// These imports are public, so that code inlined into other modules may call the functions.
#if canImport(Darwin)
    public import Darwin

    /// The system's lock for work that takes nanoseconds.
    public typealias Lock = os_unfair_lock
#elseif canImport(Glibc)
    public import Glibc

    /// The system's lock for work that takes nanoseconds.
    public typealias Lock = pthread_mutex_t
#elseif canImport(Musl)
    public import Musl

    /// The system's lock for work that takes nanoseconds.
    public typealias Lock = pthread_mutex_t
#endif

extension Lock {
    /// Memory for a lock. `prepare()` makes it a lock at its final address.
    @inlinable
    public static var unprepared: Lock { Lock() }
}

/// A lock at a fixed address.
extension UnsafeMutablePointer where Pointee == Lock {
    /// Initializes the memory as a lock.
    @inlinable
    public func prepare() {
        initialize(to: Lock())
        #if !canImport(Darwin)
            pthread_mutex_init(self, nil)
        #endif
    }

    /// Destroys the lock. The memory may then be freed.
    @inlinable
    public func dispose() {
        #if !canImport(Darwin)
            pthread_mutex_destroy(self)
        #endif
        deinitialize(count: 1)
    }

    /// Waits for the lock and takes it.
    @inlinable @inline(__always)
    public func lock() {
        #if canImport(Darwin)
            os_unfair_lock_lock(self)
        #else
            pthread_mutex_lock(self)
        #endif
    }

    /// Takes the lock if it is free. Returns whether it was.
    @inlinable @inline(__always)
    public func tryLock() -> Bool {
        #if canImport(Darwin)
            os_unfair_lock_trylock(self)
        #else
            pthread_mutex_trylock(self) == 0
        #endif
    }

    /// Gives the lock back.
    @inlinable @inline(__always)
    public func unlock() {
        #if canImport(Darwin)
            os_unfair_lock_unlock(self)
        #else
            pthread_mutex_unlock(self)
        #endif
    }
}
