/// How a pantry goes on when something in its cache folder cannot be used, because it is read-only, say.
public enum UnusableCacheAction: Sendable, Hashable {
    /// Goes on without it: a store keeps nothing, a dump or the log is not written. Tiers in memory and the origin work as
    /// always.
    case goOn
    /// Throws, from `init` as from ``Pantry/reload()``.
    case fail
}

/// Something in the cache folder that cannot be used, so that a pantry goes on without it.
public struct CacheProblem: Sendable, Hashable, CustomStringConvertible {
    /// The resource whose store it is; nil for what belongs to the whole pantry.
    public let resource: String?
    /// The part that is missing: the name of the store's plugin, or `metrics`, `log` or `policies`.
    public let part: String
    /// The reason, without paths, keys or values from the environment.
    public let reason: String

    init(resource: String?, part: String, reason: String) {
        self.resource = resource
        self.part = part
        self.reason = reason
    }

    /// `feed: the store 'file' keeps nothing: cannot make a folder: Read-only file system`.
    public var description: String {
        guard let resource else { return "\(part) cannot be written: \(reason)" }
        return "\(resource): the store '\(part)' keeps nothing: \(reason)"
    }

    /// Says that it is over.
    var resolved: String {
        guard let resource else { return "\(part) can be written again" }
        return "\(resource): the store '\(part)' works again"
    }
}
