import Larder

@testable import LarderSync

/// Visits every state that a small world can come to.
struct Explorer {
    /// The result of an exploration.
    struct Report {
        var states = 0
        var rests = 0
        var violation: Violation?
        /// The steps that led to the violation.
        var history: [ModelAction] = []
        var isComplete = true
    }

    /// The most states to visit.
    var most = 2_000_000
    /// One of so many states is brought to rest, where all devices must show what the service has.
    var restsOf: UInt64 = 1

    func explore(_ world: ModelWorld) -> Report {
        var report = Report()
        var visited: Set<UInt64> = [world.digest]
        // The worlds on the path to the present one, each with what can happen next.
        var path: [(world: ModelWorld, rest: [ModelAction], last: ModelAction?)] = [
            (world, world.actions().reversed(), nil)
        ]
        while let action = path[path.count - 1].rest.popLast() {
            var next = path[path.count - 1].world
            do throws(Violation) {
                try next.perform(action)
                let digest = next.digest
                if visited.insert(digest).inserted {
                    report.states += 1
                    if next.isQuiet, digest % restsOf == 0 {
                        report.rests += 1
                        try next.judgeRest()
                    }
                    path.append((next, next.actions().reversed(), action))
                }
            } catch {
                report.violation = error
                report.history = path.compactMap(\.last) + [action]
                return report
            }
            if visited.count >= most {
                report.isComplete = false
                return report
            }
            while path.count > 1, path[path.count - 1].rest.isEmpty { path.removeLast() }
        }
        return report
    }
}

extension Explorer.Report: CustomStringConvertible {
    var description: String {
        var text = "\(states) states, \(rests) brought to rest\(isComplete ? "" : ", more left")"
        if let violation { text += "\n\(violation)\n" + history.map { "  \($0)" }.joined(separator: "\n") }
        return text
    }
}
