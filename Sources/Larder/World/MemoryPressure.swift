#if canImport(Darwin)
    import Dispatch
#endif

/// Says when the system is short of memory, where a system tells: Apple's do.
final class MemoryPressure: Sendable {
    #if canImport(Darwin)
        /// Dispatch sources may be used from any thread, though their type does not say so.
        nonisolated(unsafe) private let source: any DispatchSourceMemoryPressure

        init(_ relieve: @escaping @Sendable () -> Void) {
            source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
            source.setEventHandler(handler: relieve)
            source.activate()
        }

        deinit { source.cancel() }
    #else
        init(_ relieve: @escaping @Sendable () -> Void) {}
    #endif
}
