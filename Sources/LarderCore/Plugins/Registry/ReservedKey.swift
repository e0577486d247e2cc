/// A key of a policy or of `_larder.json` that Larder gives a meaning. No section can have its name.
enum ReservedKey: String, CaseIterable {
    /// A kind of file.
    enum File { case policy, process }

    case schema = "$schema"
    case extends, resource, about, log, origin, around, strategy, validators, store, fallbacks
    case metrics

    /// The files that have the key.
    var files: [File] {
        switch self {
        case .schema, .log: [.policy, .process]
        case .metrics: [.process]
        default: [.policy]
        }
    }
}
