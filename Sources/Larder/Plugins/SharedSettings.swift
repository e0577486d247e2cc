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
