import LarderFoundation

/// Traps in debug builds if a validator uses a store while it examines a copy. The store holds a lock meanwhile. In a
/// release build, an answer from that store would be nil after some milliseconds. `relieve()` would wait forever on Linux, and
/// end the process on Apple platforms.
package enum ReentrancyTrap {
    #if DEBUG
        /// A thread-specific value that is set while a validator examines a copy on the thread.
        private static let flag: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Runs the code of a validator while a store waits for it.
        package static func whileStoreWaits<Result>(_ body: () -> Result) -> Result {
            pthread_setspecific(flag, UnsafeRawPointer(bitPattern: 1))
            defer { pthread_setspecific(flag, nil) }
            return body()
        }

        /// Traps if a validator is running on this thread. Called before a store is used.
        package static func storeIsUsed() {
            precondition(
                pthread_getspecific(flag) == nil,
                "a validator used a store in permit(_:for:at:), which may never return: decide from the metadata alone"
            )
        }
    #else
        /// Judges a copy.
        @inline(__always)
        package static func whileStoreWaits<Result>(_ body: () -> Result) -> Result { body() }

        /// Does nothing: only debug builds trap.
        @inline(__always)
        package static func storeIsUsed() {}
    #endif
}
