import Larder
import LarderSimulation

/// A story of several loads, with what each of them is expected to show.
struct ConcurrentStory {
    var name: String
    var story = Story()
    /// The expectation of each answer, and the promise that it is about.
    var expectations: [(promise: Promise, answer: Expectation)] = []

    /// Returns the stories for a strategy with these needs.
    static func all(for needs: StrategyNeeds) -> [ConcurrentStory] {
        guard needs.contains(.origin) else { return [] }
        return (1...3).map(equalLoads) + [cancelledLoads, otherLoads] + (needs.contains(.store) ? [lateAnswer] : [])
    }

    /// Thirty loads of one key, in an order that the seed decides.
    private static func equalLoads(_ seed: UInt64) -> ConcurrentStory {
        var all = ConcurrentStory(name: "thirty simultaneous loads of one key, seed \(seed)")
        all.story.order = seed
        all.story.origin = [Story.OriginAct(.value, after: .milliseconds(50))]
        all.story.loads = (0..<30).map { Story.Load(at: .milliseconds($0)) }
        all.expectations = all.story.loads.map { _ in (.delivers, .answer(1)) }
        all.expectations[0] = (.oneFlight, Expectation(value: .answer(1), callsAtMost: 1))
        return all
    }

    /// A cancelled load does not affect the others, and the call ends with the last one. The next load makes a new call.
    private static var cancelledLoads: ConcurrentStory {
        var all = ConcurrentStory(name: "two loads wait for a call, and one after the other is cancelled")
        all.story.origin = [Story.OriginAct(.hangs, calls: 1), Story.OriginAct(.value)]
        all.story.loads = [0, 0, 30].map { Story.Load(at: .milliseconds($0)) }
        all.story.loads[0].cancelledAfter = .milliseconds(10)
        all.story.loads[1].cancelledAfter = .milliseconds(20)
        all.expectations = [
            (.cancellation, Expectation(error: "cancelled", takes: .milliseconds(10), callsAtMost: 2)),
            (.freesFlight, Expectation(error: "cancelled", takes: .milliseconds(20))),
            (.freesFlight, .answer(1)),
        ]
        return all
    }

    /// Two calls for one key. The call that begins first ends last. The loads share no call, because one of them decodes.
    private static var lateAnswer: ConcurrentStory {
        var all = ConcurrentStory(name: "a call that begins first ends last")
        all.story.origin = [
            Story.OriginAct(.value, after: .seconds(2), calls: 1), Story.OriginAct(.value, after: .milliseconds(20)),
        ]
        all.story.loads = [0, 10, 60_000].map { Story.Load(at: .milliseconds($0)) }
        all.story.loads[1].decodes = true
        all.story.loads[2].mode = .cachedOnly
        // The answer that arrives first is the one of the later call.
        all.expectations = [
            (.endsEverything, Expectation()), (.endsEverything, Expectation()),
            (.lateAnswer, .answer(1)),
        ]
        return all
    }

    /// Loads of several keys and accounts. Each call is answered with another value, until the origin fails.
    private static var otherLoads: ConcurrentStory {
        var all = ConcurrentStory(name: "several keys and accounts, one after the other")
        let keys: [(String, String?)] = [("1", nil), ("1", "a"), ("1", "b"), ("2", "a"), ("2", nil)]
        all.story.origin = [Story.OriginAct(.value, calls: keys.count), Story.OriginAct(.unreachable)]
        all.story.loads = (keys + keys).enumerated().map { number, key in
            Story.Load(at: .seconds(number), parameters: ["id": key.0], scope: key.1)
        }
        all.expectations = all.story.loads.indices.map { number in
            let value = JSON.answer(number % keys.count + 1)
            return (.isolation, Expectation(value: value, answered: number < keys.count ? "yes" : "either"))
        }
        return all
    }
}

extension JSON {
    /// The payload of the origin's answer with this number.
    static func answer(_ number: Int) -> JSON { ["answer": .int(number)] }
}

extension Expectation {
    /// The origin's answer with this number.
    fileprivate static func answer(_ number: Int) -> Expectation { Expectation(value: .answer(number)) }
}
