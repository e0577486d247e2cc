extension Setting where Value == Duration? {
    /// The setting that every strategy understands that may wait for the origin while it holds a copy.
    public static var patience: Setting<Duration?> {
        Setting(
            "patience", optional: .duration,
            help: "How long to wait for the origin before a copy that may be shown is shown; the call goes on")
    }
}

extension Setting where Value == Duration {
    /// How long a call may outlive the load that started it.
    public static var background: Setting<Duration> {
        Setting(
            "background", .duration(.milliseconds(1) ... .forever), default: .seconds(60),
            help: "How long a call may go on in the background before it is given up")
    }
}

extension Setting where Value == Double? {
    /// When a fresh copy is refreshed before it is stale.
    public static var refreshAhead: Setting<Double?> {
        Setting(
            "refreshAhead", optional: .share,
            help: "The share of its fresh time after which a copy that is shown is also refreshed in the background")
    }
}
