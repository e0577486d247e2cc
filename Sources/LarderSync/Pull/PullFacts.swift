public import Larder

/// The facts about a puller, by which `larder check` finds mistakes before anything runs. A fact that is left out is not
/// checked.
public struct PullFacts: Sendable {
    /// The parameters of its calls of the policy's origin, a list for each kind of call; nil if it calls none.
    public var calls: [[String]]?
    /// Whether it sees that the service has deleted a record.
    public var seesDeletions = true
    /// Whether it must know the place of the time of the last change in a record: the setting `updatedAt`.
    public var needsUpdatedAt = false
    /// Whether it fetches all records each time.
    public var isAlwaysFull = false
    /// The settings of the puller that contradict each other.
    public var contradictions: [Contradiction] = []
    /// How often it is asked, and how often for everything.
    var (every, full): (Duration?, Duration?)

    /// Creates the facts about a puller.
    ///
    /// - Parameter calls: the parameters of its calls of the policy's origin, a list for each kind of call; nil if it calls none.
    public init(calls: [[String]]? = [[]]) { self.calls = calls }

    /// The same facts, as the core knows them.
    var traits: CustomTraits {
        .with {
            $0.facts = self
            $0.neededOrigin = calls == nil ? nil : .any
            $0.calls = calls ?? []
            $0.contradictions = contradictions
        }
    }
}

extension PullFacts {
    /// The contradictions between a puller and the settings of the section `records`.
    ///
    /// - Parameters:
    ///   - updatedAt: whether records have the time of their last change.
    ///   - keep: how many records are kept; nil if all are.
    func contradictions(updatedAt: Bool, keep: KeepRule?) -> [Contradiction] {
        var found: [Contradiction] = []
        if needsUpdatedAt, !updatedAt {
            found.append(
                Contradiction(
                    "pull", "nothing tells the time from which the next pull begins",
                    expected: "\"serverTime\", or 'updatedAt'"))
        }
        if isAlwaysFull, let keep, keep.path == nil {
            found.append(
                Contradiction(
                    "keep", "all records are fetched each time, and nothing tells which of them are kept",
                    expected: "\"by\""))
        }
        return found
    }

    /// The settings by which something is never seen.
    var risks: [Contradiction] {
        var found: [Contradiction] = []
        if !seesDeletions, full == nil {
            found.append(
                Contradiction(
                    "pull", "deletions of the service are never seen",
                    expected: "\"deleted\", \"tombstone\" or \"full\": \"7d\""))
        }
        if let every, every < .seconds(60) {
            found.append(
                Contradiction(
                    "pull.every", "every device asks the service more than once a minute", expected: "at least \"1m\""))
        }
        return found
    }
}
