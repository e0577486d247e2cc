// Publicly, so that what is inlined into other modules may call them.
#if canImport(Darwin)
    public import Darwin

    /// The system's lock for what takes nanoseconds.
    @usableFromInline typealias Lock = os_unfair_lock
#elseif canImport(Glibc)
    public import Glibc

    /// The system's lock for what takes nanoseconds.
    @usableFromInline typealias Lock = pthread_mutex_t
#elseif canImport(Musl)
    public import Musl

    /// The system's lock for what takes nanoseconds.
    @usableFromInline typealias Lock = pthread_mutex_t
#endif

extension Lock {
    /// Not yet a lock: it is to be prepared where it stays.
    static var unprepared: Lock { Lock() }
}

/// A lock in memory that stays where it is: beside what it guards, or alone as in ``Locked``.
extension UnsafeMutablePointer where Pointee == Lock {
    /// Makes the memory a lock.
    func prepare() {
        initialize(to: Lock())
        #if !canImport(Darwin)
            pthread_mutex_init(self, nil)
        #endif
    }

    /// Makes the lock memory again.
    func dispose() {
        #if !canImport(Darwin)
            pthread_mutex_destroy(self)
        #endif
        deinitialize(count: 1)
    }

    @inlinable @inline(__always)
    func lock() {
        #if canImport(Darwin)
            os_unfair_lock_lock(self)
        #else
            pthread_mutex_lock(self)
        #endif
    }

    /// Takes the lock unless somebody has it.
    @inlinable @inline(__always)
    func tryLock() -> Bool {
        #if canImport(Darwin)
            os_unfair_lock_trylock(self)
        #else
            pthread_mutex_trylock(self) == 0
        #endif
    }

    @inlinable @inline(__always)
    func unlock() {
        #if canImport(Darwin)
            os_unfair_lock_unlock(self)
        #else
            pthread_mutex_unlock(self)
        #endif
    }
}
