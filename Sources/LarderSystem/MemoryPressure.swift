#if canImport(Darwin)
    import Dispatch
#endif

/// Calls a closure when the system is short of memory. Only Apple's systems report this; elsewhere nothing is called.
package final class MemoryPressure: Sendable {
    #if canImport(Darwin)
        private let source: any DispatchSourceMemoryPressure

        /// Calls `relieve` each time the system is short of memory, as long as this object lives.
        package init(_ relieve: @escaping @Sendable () -> Void) {
            source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical])
            source.setEventHandler(handler: relieve)
            source.activate()
        }

        deinit { source.cancel() }
    #else
        /// Does nothing: the system does not tell.
        package init(_ relieve: @escaping @Sendable () -> Void) {}
    #endif
}
