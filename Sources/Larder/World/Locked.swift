/// A value behind a lock that is held for nanoseconds. Never await, never touch a disk and never call foreign code inside:
/// for that there is ``Exclusive``.
///
/// `Synchronization.Mutex` would serve, but here it costs 2.8 times as much uncontended and the thread sanitizer
/// reports races in it that are none.
///
/// `@unchecked Sendable`: the value is reached only while the lock is held.
@usableFromInline package final class Locked<Value: Sendable>: @unchecked Sendable {
    @usableFromInline let lock: UnsafeMutablePointer<Lock>
    /// Behind the lock in the same memory: the checks of access to a class's variables would cost more than the lock.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        let alignment = max(MemoryLayout<Lock>.alignment, MemoryLayout<Value>.alignment)
        let offset = (MemoryLayout<Lock>.size + alignment - 1) / alignment * alignment
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
        lock = memory.bindMemory(to: Lock.self, capacity: 1)
        lock.prepare()
        self.value = (memory + offset).bindMemory(to: Value.self, capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        lock.dispose()
        UnsafeMutableRawPointer(lock).deallocate()
    }

    @inline(__always)
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }

    /// The same for what is inlined into other modules.
    @inlinable @inline(__always)
    func locked<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value.pointee)
    }

    /// Does nothing when somebody has the lock.
    package func tryLock(_ body: (inout Value) -> Void) {
        guard lock.tryLock() else { return }
        defer { lock.unlock() }
        body(&value.pointee)
    }
}
