#if canImport(Darwin)
    package import Darwin
#elseif canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#endif

/// A value behind a lock that is held for nanoseconds. Never await and never call foreign code inside.
///
/// `Synchronization.Mutex` would serve, but here it costs 2.8 times as much uncontended and the thread sanitizer
/// reports races in it that are none.
///
/// `@unchecked Sendable`: the value is reached only while the lock is held.
package final class Locked<Value>: @unchecked Sendable {
    #if canImport(Darwin)
        @usableFromInline package let lock: UnsafeMutablePointer<os_unfair_lock>
    #else
        @usableFromInline package let lock: UnsafeMutablePointer<pthread_mutex_t>
    #endif
    @usableFromInline package var value: Value

    package init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        #if canImport(Darwin)
            lock.initialize(to: os_unfair_lock())
        #else
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
        #endif
    }

    deinit {
        #if !canImport(Darwin)
            pthread_mutex_destroy(lock)
        #endif
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    @inlinable @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        #if canImport(Darwin)
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
        #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
        #endif
        return try body(&value)
    }
}
