#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Traps, in debug builds, where a validator uses a store while it judges a copy: the store waits for the validator, and
/// the process would hang.
enum Judging {
    #if DEBUG
        /// Set on a thread while a validator judges there what lies in a store.
        private static let mark: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Judges a copy while its store cannot change.
        static func whileStoreWaits<Result>(_ judge: () -> Result) -> Result {
            pthread_setspecific(mark, UnsafeRawPointer(bitPattern: 1))
            defer { pthread_setspecific(mark, nil) }
            return judge()
        }

        /// A store is used.
        static func storeIsUsed() {
            precondition(
                pthread_getspecific(mark) == nil,
                "a validator used a store in permit(_:at:), which waits for it: decide from the metadata alone")
        }
    #else
        @inline(__always)
        static func whileStoreWaits<Result>(_ judge: () -> Result) -> Result { judge() }

        @inline(__always)
        static func storeIsUsed() {}
    #endif
}
