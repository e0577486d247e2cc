import LarderSystem

/// Keeps the present problems of the cache folder, and reports the beginning and the end of each once.
final class CacheProblems: Sendable {
    private let report: @Sendable (() -> PantryEvent?) -> Void
    private let current = Locked<[CacheProblem]>([])

    /// - Parameter report: runs the change that it is given, and reports the event that the change returns.
    init(report: @escaping @Sendable (() -> PantryEvent?) -> Void) {
        self.report = report
    }

    /// The present problems, in the order of their beginning.
    var all: [CacheProblem] { current.withLock { $0 } }

    /// Adds a problem. It is reported unless its part already has one.
    func begin(_ problem: CacheProblem) {
        report {
            current.withLock { current in
                if current.contains(where: { $0.resource == problem.resource && $0.part == problem.part }) {
                    return nil
                }
                current.append(problem)
                return .cacheUnusable(problem)
            }
        }
    }

    /// Removes the problem of a part that works. That is reported if the part had a problem.
    func end(_ part: String, of resource: String?) {
        report {
            current.withLock { current in
                current.firstIndex { $0.resource == resource && $0.part == part }
                    .map { .cacheUsable(current.remove(at: $0)) }
            }
        }
    }

    /// Replaces the problems of the stores of a resource, except those of clearings.
    func replace(_ problems: [CacheProblem], of resource: String) {
        let parts = Set(problems.map(\.part))
        for problem in all where problem.resource == resource && !problem.isClearing && !parts.contains(problem.part) {
            end(problem.part, of: resource)
        }
        for problem in problems { begin(problem) }
    }
}
