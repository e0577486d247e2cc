import LarderFoundation

/// A value behind a lock that may be held for long: during disk access and during code of plugins.
///
/// Only threads that may block may wait for the lock, such as those of `World.blocking(_:)`. A waiting task would block
/// a thread of Swift's pool. ``Locked`` is for work that takes nanoseconds.
///
/// `@unchecked Sendable`: the value is reached only while the mutex is held.
public final class BlockingLock<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// In memory of its own. As a variable of the class, a value without bytes, such as `()`, has the address of the
    /// mutex, which the thread sanitizer takes for a race.
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    /// A value behind a mutex that nobody holds.
    public init(_ value: Value) {
        self.value.initialize(to: value)
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, .init(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Waits for the lock, then runs `body` with the value. Traps if `body` uses the same lock again.
    public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        let status = pthread_mutex_lock(mutex)
        precondition(status == 0, "a thread that holds a BlockingLock tried to lock it again")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs `body` with the value if nobody holds the lock. Returns nil otherwise.
    public func tryLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result?
    {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
