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
