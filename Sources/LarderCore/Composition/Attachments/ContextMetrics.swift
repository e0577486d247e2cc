extension SectionContext {
    /// Returns the metrics of the whole pantry, for a section of `_larder.json` that sends them elsewhere. Returns nil in
    /// all other parts, and after the pantry was released.
    ///
    /// ``MetricsDump/families`` has them in a form that suits every format. The counts are those since the process began,
    /// so that a sink may leave out some readings. An attachment can ask until its ``Attachment/close()`` has ended.
    public func metrics() async -> MetricsDump? {
        guard resource.isEmpty, let pantry = self.pantry as? Pantry else { return nil }
        return await pantry.metrics.dump()
    }
}
