import LarderSystem

extension Setting where Value == Duration? {
    /// The setting `patience`: how long to wait for the origin while holding a copy. Every strategy that may wait so
    /// has it.
    public static var patience: Setting<Duration?> {
        Setting(
            "patience", optional: .duration,
            help: "How long to wait for the origin before a permitted copy is served; the call goes on"
        ).advised(.patience).alsoCalled("wait", "networkTimeout", "networkTimeoutSeconds")
    }

    /// The setting `limit` of every store: how long one operation may take. A clearing may take longer: see
    /// ``LimitedStore``.
    static var limit: Setting<Duration?> {
        Setting(
            "limit", optional: .duration(.milliseconds(1) ... .forever),
            help:
                "How long one operation may take before it counts as failed; removing the entries of an account, of a "
                + "tag, or all, may always take 30s"
        ).alsoCalled("time-out", "timeLimit")
    }
}

extension Setting where Value == Duration {
    /// The setting `rest`: how long the origin is left alone after a failure. Every strategy that uses an origin and
    /// copies has it.
    static var rest: Setting<Duration> {
        Setting(
            "rest", .duration, default: .seconds(5),
            help: "How long the origin of a key is not called after a failure, if a copy that onError allows can be "
                + "served; doubles with each failure, up to 30s; 0s calls it each time")
    }

    /// The setting `background`: how long a call may go on after the load that started it has ended.
    public static var background: Setting<Duration> {
        Setting(
            "background", .duration(.milliseconds(1) ... .forever), default: .seconds(60),
            help: "How long a call may go on in the background before it is given up")
    }
}

extension Setting where Value == Double? {
    /// The setting `refreshAhead`: the share of its fresh time after which a copy is refreshed ahead.
    public static var refreshAhead: Setting<Double?> {
        Setting(
            "refreshAhead", optional: .share,
            help: "The share of its fresh time after which a served copy is also refreshed in the background"
        ).advised(.refreshAhead)
    }
}

extension Setting where Value == String {
    /// The setting `offline`: whether a copy is shown at once while the device has no network. Every strategy that uses an
    /// origin and copies has it.
    static var offline: Setting<String> {
        Setting(
            "offline", .choice(["cache", "try"]), default: "cache",
            help: "While the device is known to have no network: \"cache\" serves a copy that onError allows without a "
                + "call, \"try\" calls the origin all the same; an origin on this device is always called")
    }
}
