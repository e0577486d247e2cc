/// What a pantry does when something in its cache folder cannot be used, because it is read-only, say.
public enum UnusableCacheAction: Sendable, Hashable {
    /// Goes on without it: a store keeps nothing, a dump or the log is not written. Tiers in memory and the origin work as
    /// always.
    case goOn
    /// Throws, from `init` as from ``Pantry/reload()``.
    case fail
}

/// Something in the cache folder that cannot be used, so that a pantry goes on without it.
public struct CacheProblem: Sendable, Hashable, CustomStringConvertible {
    /// The resource whose store it is; nil for a file that `_larder.json` names.
    public let resource: String?
    /// The part that is missing: the name of the store's plugin, or `metrics` or `log`.
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

/// Keeps what cannot be used now, and tells when that begins and when it is over, each once.
final class CacheProblems: Sendable {
    private let tell: @Sendable (PantryEvent) -> Void
    private let current = Locked<[CacheProblem]>([])

    init(tell: @escaping @Sendable (PantryEvent) -> Void) {
        self.tell = tell
    }

    /// All there are, in the order in which they began.
    var all: [CacheProblem] { current.withLock { $0 } }

    /// Takes note of a problem. It is told unless its part has one already.
    func begin(_ problem: CacheProblem) {
        let isNew = current.withLock { current in
            let isNew = !current.contains { $0.resource == problem.resource && $0.part == problem.part }
            if isNew { current.append(problem) }
            return isNew
        }
        if isNew { tell(.cacheUnusable(problem)) }
    }

    /// Takes note that a part works. That is told if it did not before.
    func end(_ part: String, of resource: String?) {
        let problem = current.withLock { current in
            current.firstIndex { $0.resource == resource && $0.part == part }.map { current.remove(at: $0) }
        }
        if let problem { tell(.cacheUsable(problem)) }
    }

    /// Takes note of all problems that the stores of a resource have now.
    func replace(_ problems: [CacheProblem], of resource: String) {
        let parts = Set(problems.map(\.part))
        for problem in all where problem.resource == resource && !parts.contains(problem.part) {
            end(problem.part, of: resource)
        }
        for problem in problems { begin(problem) }
    }
}
