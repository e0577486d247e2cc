extension Setting where Value == Duration? {
    /// The setting that every strategy understands that may wait for the origin while it holds a copy.
    public static var patience: Setting<Duration?> {
        Setting(
            "patience", optional: .duration,
            help: "How long to wait for the origin before a copy that may be shown is shown; the call goes on")
    }
}

extension Setting where Value == Duration {
    /// The setting of every strategy that asks an origin and has copies.
    static var rest: Setting<Duration> {
        Setting(
            "rest", .duration, default: .seconds(5),
            help: "How long the origin is left alone for an instance after it failed, while a copy that onError allows "
                + "stands in; doubles with each failure, up to 30s; 0s asks each time")
    }

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
