/// A source that tells a ``SystemWorld`` whether the device is being charged: the system, or an app that knows better.
///
/// On iOS, only the main actor may ask the system, so an app passes a source of its own:
///
/// ```swift
/// UIDevice.current.isBatteryMonitoringEnabled = true
/// let power = ManualPower()   // set at UIDevice.batteryStateDidChangeNotification
/// let pantry = try await Pantry(policies: folder, world: SystemWorld(power: power))
/// ```
public protocol PowerSource: Sendable {
    /// Whether the device is being charged or has no battery; nil if that is not known. It may be asked from any thread,
    /// and may take a few milliseconds.
    var isCharging: Bool? { get }
}
