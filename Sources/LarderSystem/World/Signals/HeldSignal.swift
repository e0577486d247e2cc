/// A signal that the process received and that has had no effect yet.
public final class HeldSignal: Sendable {
    /// The name of the signal, such as `TERM`.
    public let name: String
    private let effect: Locked<(@Sendable () -> Void)?>

    /// Makes a signal that runs `effect` when it is released or deallocated.
    public init(_ name: String, effect: @escaping @Sendable () -> Void) {
        self.name = name
        self.effect = Locked(effect)
    }

    deinit { release() }

    /// Lets the signal have its effect. Only the first call has one.
    public func release() {
        let effect = effect.withLock { effect in
            defer { effect = nil }
            return effect
        }
        effect?()
    }
}
