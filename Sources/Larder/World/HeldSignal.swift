/// A signal that the process got and that has had no effect yet.
public final class HeldSignal: Sendable {
    /// The name of the signal, such as `TERM`.
    public let name: String
    private let effect: Locked<(@Sendable () -> Void)?>

    /// A signal that does `effect` when it is released, or when nobody holds it any more.
    public init(_ name: String, effect: @escaping @Sendable () -> Void) {
        self.name = name
        self.effect = Locked(effect)
    }

    deinit { release() }

    /// Lets the signal have its effect. Only the first call does anything.
    public func release() {
        let effect = effect.withLock { effect in
            defer { effect = nil }
            return effect
        }
        effect?()
    }
}
