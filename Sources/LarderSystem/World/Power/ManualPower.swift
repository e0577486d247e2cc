/// A state of the power that an app or a test sets.
public final class ManualPower: PowerSource {
    private let state: Locked<Bool?>

    /// Creates a source with a state, by default unknown.
    public init(isCharging: Bool? = nil) { state = Locked(isCharging) }

    /// Whether the device is being charged or has no battery; nil if that is not known.
    public var isCharging: Bool? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
