/// The state of a device's network: whether it leads anywhere, and what is known about it.
///
/// A state says what the system knows. A network that is online may still lead nowhere, for example before the login page
/// of a hotel.
public struct NetworkState: Hashable, Sendable {
    /// Whether the device has a network that leads beyond it.
    public enum Reach: String, Sendable, CaseIterable {
        /// There is a way out of the device.
        case online
        /// There is no way out of the device.
        case offline
        /// Nobody has found out.
        case unknown
    }

    /// The kind of a network.
    public enum Kind: String, Sendable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A mobile network.
        case cellular
        /// A cable.
        case wired
        /// Any other network.
        case other
    }

    /// Whether the device has a network that leads beyond it.
    public var reach: Reach
    /// The kind of the network; nil if it is not known or there is no network.
    public var kind: Kind?
    /// Whether the network costs money by use, as mobile networks and shared phones may; nil if that is not known.
    public var isExpensive: Bool?
    /// Whether the user asked to save data on this network; nil if that is not known.
    public var isConstrained: Bool?

    /// Creates a state. Everything but the reach is unknown by default.
    public init(_ reach: Reach, kind: Kind? = nil, isExpensive: Bool? = nil, isConstrained: Bool? = nil) {
        self.reach = reach
        self.kind = kind
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// A network of which only is known that it leads beyond the device.
    public static let online = NetworkState(.online)
    /// No network.
    public static let offline = NetworkState(.offline)
    /// A state of which nothing is known.
    public static let unknown = NetworkState(.unknown)
}
