public import LarderSystem

/// Receives the reports and dumps of a pantry, for the app's own telemetry.
///
/// Both methods are called on any thread and must return quickly. Start a task of your own for longer work. Neither
/// gets a key, parameter or payload.
public protocol MetricsSink: Sendable {
    /// Called when a load has ended. The default does nothing.
    func ended(_ load: LoadReport)

    /// Called when a dump was made, as often as `_larder.json` says. The default does nothing.
    func dumped(_ dump: MetricsDump)
}

extension MetricsSink {
    /// Does nothing.
    public func ended(_ load: LoadReport) {}

    /// Does nothing.
    public func dumped(_ dump: MetricsDump) {}
}

extension Pantry {
    /// Sends every load and every dump to a sink until the subscription ends.
    public func attach(_ sink: any MetricsSink) -> Subscription {
        let subscriptions = [sinks.loads.add { sink.ended($0) }, sinks.dumps.add { sink.dumped($0) }]
        return Subscription { for subscription in subscriptions { subscription.stop() } }
    }
}
