#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A value that one thread at a time works on, for as long as it takes: over disk work and over code of plugins.
///
/// Only threads that may block may wait for it, those of ``World/blocking(_:)``: a task that waited would hold up Swift's
/// own threads. For nanoseconds there is ``Locked``.
///
/// `@unchecked Sendable`: the value is reached only while the mutex is held.
package final class Exclusive<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: Value) {
        self.value = value
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
    }

    /// Waits for its turn, then works on the value. The work must not ask for the same value again.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        let status = pthread_mutex_lock(mutex)
        precondition(status == 0, "work on a value asked for the same value again")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
