extension MetricsDump {
    /// The dump in the text format of Prometheus.
    public var prometheus: String { "" }

    /// The dump in the text format of OpenMetrics.
    public var openMetrics: String { "" }
}
