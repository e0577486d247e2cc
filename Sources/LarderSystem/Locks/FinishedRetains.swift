public import Synchronization

/// Finishes the retains of all objects that the thread has read until now. Call it before a store to an atomic that lets
/// other threads release these objects, such as the store that gives back a lock.
///
/// The store alone does not suffice, whatever its ordering. In optimised builds, the compiler's last pass over reference
/// counts moves a retain down past instructions that cannot release an object themselves. It counts every load and store
/// as such, also an atomic store after which another thread releases the object. So the object could end between the store
/// and the retain. Debug builds and the thread sanitizer do not show this.
///
/// The pass moves no retain past any other instruction that touches memory: a fence, an atomic exchange, or a call of a
/// function that it does not know. `Synchronization.Mutex` relies on this with an exchange, and `os_unfair_lock` and
/// `pthread_mutex_t` rely on it with a call. This function relies on the same rule with a fence, whose order the memory
/// model promises as well. On x86-64 the fence takes no instruction, where an exchange takes about 8 ns.
///
/// The rule is one of the compiler, so `Tests/locks` checks the machine code of each optimised build.
@inlinable @inline(__always)
public func finishRetains() {
    atomicMemoryFence(ordering: .releasing)
}
