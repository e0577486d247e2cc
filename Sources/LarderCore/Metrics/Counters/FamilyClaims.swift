/// The text format families that are taken, each by the metric of a plugin that is written as it.
///
/// Names can meet: `bytes_read` and `read_bytes` are one family, and so are the counter `mood_angry` and the level `mood` at
/// `angry`. A text in which a family stands twice is refused by those who read it.
struct FamilyClaims {
    private var owners: [String: String] = [:]

    /// Takes the families of a metric. Fails if another metric has one of them.
    mutating func claim(_ metric: some PluginMetric) -> Bool {
        let values = (metric as? Level)?.values
        // The name of a level alone is taken too, because levels of one name are equal.
        let families = metric.families.map(\.name) + (values == nil ? [] : ["level " + metric.name])
        let owner = "\(metric.quoted) \(values ?? []): \(metric.help)"
        guard families.allSatisfy({ (owners[$0] ?? owner) == owner }) else { return false }
        for family in families { owners[family] = owner }
        return true
    }
}
