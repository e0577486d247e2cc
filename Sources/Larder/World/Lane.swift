// Publicly, so that what is inlined into other modules may call it.
#if canImport(Darwin)
    public import Darwin
#elseif canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif

/// A number for the thread that asks, so that threads mostly write to memory of their own.
@usableFromInline enum Lane {
    /// How many there are; threads may share one.
    @inlinable static var count: Int { 8 }

    /// The thread's: the same each time it asks.
    @inlinable static var own: Int {
        #if canImport(Glibc)
            let thread = UInt(pthread_self())
        #else
            let thread = UInt(bitPattern: pthread_self())
        #endif
        // Threads' addresses differ in the middle: spread that over the highest bits.
        return Int(truncatingIfNeeded: (UInt64(thread >> 12) &* 0x9E37_79B9_7F4A_7C15) >> 61)
    }

    /// Lets other threads go on, for one that waits for what takes nanoseconds. If it takes longer, whoever is waited for
    /// has lost its processor, perhaps to one more urgent: then it is time to sleep.
    static func wait(_ round: Int) {
        if round < 64 { sched_yield() } else { usleep(50) }
    }
}
