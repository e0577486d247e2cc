#if os(macOS)
    import IOKit.ps
#endif

/// The power as the system sees it.
///
/// On Linux, this is told by the supplies in `/sys/class/power_supply`, where batteries of mice and the like do not count.
/// On macOS, IOKit tells it. Elsewhere it is not known: see ``PowerSource``.
public struct SystemPower: PowerSource {
    /// Creates a source. All of them tell the same.
    public init() {}

    #if os(Linux)
        /// Whether a supply other than a battery is online, or the battery is not being discharged. A device without a
        /// battery counts as charging. Nil if the system does not tell.
        public var isCharging: Bool? { Self.isCharging(PowerSupply.all(in: "/sys/class/power_supply")) }
    #elseif os(macOS)
        /// Whether the device is plugged in.
        public var isCharging: Bool? {
            let snapshot = IOPSCopyPowerSourcesInfo().takeRetainedValue()
            return IOPSGetProvidingPowerSourceType(snapshot).takeUnretainedValue() as String == kIOPMACPowerKey
        }
    #else
        /// Nil: not known.
        public var isCharging: Bool? { nil }
    #endif

    /// Returns whether a device with these supplies is being charged; nil if `supplies` is nil or its batteries do not
    /// tell.
    static func isCharging(_ supplies: [PowerSupply]?) -> Bool? {
        guard let supplies else { return nil }
        let own = supplies.filter { !$0.isOfAccessory }
        if own.contains(where: { $0.kind != "Battery" && $0.isOnline }) { return true }
        let batteries = own.filter { $0.kind == "Battery" }
        if batteries.isEmpty { return true }
        if batteries.contains(where: { $0.status == "Discharging" }) { return false }
        return batteries.contains { ["Charging", "Full", "Not charging"].contains($0.status) } ? true : nil
    }
}

/// A supply of power, as Linux describes it.
struct PowerSupply: Equatable, Sendable {
    /// The kind: `Battery`, `Mains`, `USB` and others.
    var kind: String
    /// The state of a battery: `Charging`, `Discharging`, `Full`, `Not charging` or `Unknown`.
    var status = ""
    /// Whether a supply that is not a battery is connected.
    var isOnline = false
    /// Whether it supplies an accessory such as a mouse, and not the device.
    var isOfAccessory = false

    /// Returns the supplies in a folder that is like `/sys/class/power_supply`; nil if it cannot be read.
    static func all(in folder: String) -> [PowerSupply]? {
        guard let items = try? Disk.list(folder) else { return nil }
        return items.map(\.name).sorted().compactMap { name in
            func text(_ file: String) -> String? {
                guard let bytes = try? Disk.read("\(folder)/\(name)/\(file)", limit: 4_096) else { return nil }
                return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            }
            guard let kind = text("type") else { return nil }
            return PowerSupply(
                kind: kind, status: text("status") ?? "", isOnline: text("online").map { $0 != "0" } ?? false,
                isOfAccessory: text("scope") == "Device")
        }
    }
}
