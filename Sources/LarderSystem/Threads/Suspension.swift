/// A task that is suspended until some thread resumes it with a value.
///
/// ```swift
/// let line = await Suspension.wait { reader in
///     state.withLock { state in
///         if state.line == nil { state.reader = reader }
///         return state.line
///     }
/// }
/// ```
///
/// It must be resumed exactly once. A debug build stops if it is resumed twice, and warns if it is never resumed. An
/// optimised build does not check, which saves an allocation for each wait.
public struct Suspension<Value: Sendable>: Sendable {
    #if DEBUG
        @usableFromInline typealias Continuation = CheckedContinuation<Value, Never>
    #else
        @usableFromInline typealias Continuation = UnsafeContinuation<Value, Never>
    #endif

    @usableFromInline let continuation: Continuation

    @inlinable
    init(_ continuation: Continuation) { self.continuation = continuation }

    /// Resumes the task. Nothing may resume it again.
    @inlinable
    public func resume(returning value: Value) { continuation.resume(returning: value) }

    /// Suspends the task, and returns the value with which it is resumed.
    ///
    /// - Parameter register: keeps the suspension for the thread that will resume it, and returns nil. It returns a value
    ///   instead if there is nothing to wait for. It is called once, at once, on the task's thread.
    @inlinable
    public nonisolated(nonsending) static func wait(_ register: (Suspension) -> Value?) async -> Value {
        #if DEBUG
            await withCheckedContinuation { begin(Suspension($0), register) }
        #else
            await withUnsafeContinuation { begin(Suspension($0), register) }
        #endif
    }

    @inlinable
    static func begin(_ suspension: Suspension, _ register: (Suspension) -> Value?) {
        if let value = register(suspension) { suspension.resume(returning: value) }
    }
}
