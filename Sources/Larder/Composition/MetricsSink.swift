/// Receives what a pantry counts, to hand it on to an app's own telemetry.
///
/// Both methods are called on whatever thread it happens on, and quickly: what takes long belongs in a task of the sink's
/// own. Neither is told a key, parameter or payload.
public protocol MetricsSink: Sendable {
    /// A load ended. By default nothing is done.
    func ended(_ load: LoadReport)

    /// A dump was made, as often as `_larder.json` says. By default nothing is done.
    func dumped(_ dump: MetricsDump)
}

extension MetricsSink {
    /// Nothing.
    public func ended(_ load: LoadReport) {}

    /// Nothing.
    public func dumped(_ dump: MetricsDump) {}
}

/// The tie between a pantry and somebody it tells things: it ends when it is stopped or nobody holds it any more.
public final class Attachment: Sendable {
    private let detach: @Sendable () -> Void

    init(_ detach: @escaping @Sendable () -> Void) {
        self.detach = detach
    }

    /// Nothing is told any more.
    public func stop() { detach() }

    deinit { detach() }
}

extension Pantry {
    /// Tells a sink of every load and every dump, until the attachment is let go.
    public func attach(_ sink: any MetricsSink) -> Attachment {
        let (loads, dumps) = (hearing.loads, hearing.dumps)
        let (load, dump) = (loads.add { sink.ended($0) }, dumps.add { sink.dumped($0) })
        return Attachment {
            loads.remove(load)
            dumps.remove(dump)
        }
    }
}
