import Larder

/// The records of the service that stay on this device. Those with changes always do.
struct KeepRule: Hashable, Sendable {
    /// The most records; nil for any number.
    var most: Int?
    /// The time after which a record goes; nil for never.
    var time: Duration?
    /// The place of the value by which the latest records are found; nil for the order in which they came.
    var path: [String]?
}

extension SettingType where Value == KeepRule {
    /// The records that stay.
    static var keepRule: SettingType<KeepRule> {
        .object(
            "keep",
            Setting("most", optional: .int(1...100_000_000), help: "The most records"),
            Setting(
                "for", optional: .duration(.seconds(60) ... .forever),
                help: "The time after which a record goes, since it was fetched last"),
            Setting(
                "by", optional: .field,
                help:
                    "The field with the largest values of the latest records; without it, those that were fetched last are the latest"
            )
        ) { node, reading, most, time, path in
            if most == nil, time == nil {
                reading.report(
                    "nothing says which records stay", at: node.position, expected: "\"most\" or \"for\"")
                return nil
            }
            return KeepRule(most: most, time: time, path: path)
        }
    }
}
