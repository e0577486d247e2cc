/// A value behind a lock that is held for nanoseconds.
///
/// Code that holds the lock must not await, access a disk or call code of plugins: ``BlockingLock`` is for such work.
///
/// `Synchronization.Mutex` is not used because it costs 2.8 times as much uncontended on Linux, and the thread
/// sanitizer reports false races in it.
///
/// `@unchecked Sendable`: the value is reached only while the lock is held.
public final class Locked<Value: Sendable>: @unchecked Sendable {
    @usableFromInline let lock: UnsafeMutablePointer<Lock>
    /// The value, in the same memory as the lock. As a variable of the class, its exclusivity checks would cost more
    /// than the lock.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// A value behind a lock that nobody holds.
    @inlinable
    public init(_ value: Value) {
        let alignment = max(MemoryLayout<Lock>.alignment, MemoryLayout<Value>.alignment)
        let offset = (MemoryLayout<Lock>.size + alignment - 1) / alignment * alignment
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
        lock = memory.bindMemory(to: Lock.self, capacity: 1)
        lock.prepare()
        self.value = (memory + offset).bindMemory(to: Value.self, capacity: 1)
        self.value.initialize(to: value)
    }

    @inlinable
    deinit {
        value.deinitialize(count: 1)
        lock.dispose()
        UnsafeMutableRawPointer(lock).deallocate()
    }

    /// Waits for the lock, then works on the value. The work must not ask for the same value again.
    @inlinable @inline(__always)
    public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }

    /// Runs `body` with the value if the lock is free. Does nothing otherwise.
    @inlinable
    public func tryLock(_ body: (inout Value) -> Void) {
        guard lock.tryLock() else { return }
        defer { lock.unlock() }
        body(&value.pointee)
    }
}
