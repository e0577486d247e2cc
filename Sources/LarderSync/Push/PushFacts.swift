public import Larder

/// The facts about a pusher, by which `larder check` finds mistakes before anything runs. A fact that is left out is not
/// checked.
public struct PushFacts: Sendable {
    /// The parameters of its calls of the policy's origin, a list for each kind of call; nil if it calls none.
    public var calls: [[String]]?
    /// Whether the service knows by the key of a change that it has made it.
    public var sendsKeys = true
    /// Whether the service knows by the version of a record that somebody else has changed it.
    public var sendsVersions = true
    /// Whether the answer to a change has the record, and so the id that the service gave it.
    public var receivesRecords = true

    /// The settings of the pusher that contradict each other.
    public var contradictions: [Contradiction] = []

    /// Creates the facts about a pusher.
    ///
    /// - Parameter calls: the parameters of its calls of the policy's origin, a list for each kind of call; nil if it calls none.
    public init(calls: [[String]]? = [[]]) { self.calls = calls }

    /// The same facts, as the core knows them.
    var traits: CustomTraits {
        .with {
            $0.facts = self
            $0.neededOrigin = calls == nil ? nil : .acceptingSends
            $0.calls = calls ?? []
            $0.contradictions = contradictions
        }
    }

    /// The contradictions between a pusher and the settings of the section `records`.
    ///
    /// - Parameter ids: the side that names new records.
    func contradictions(ids: SyncRules.IDs) -> [Contradiction] {
        if receivesRecords || ids == .client { return [] }
        return [
            Contradiction(
                "push", "the service names new records, and no answer tells their ids", expected: "\"record\"")
        ]
    }

    /// The settings by which something is lost or done twice.
    ///
    /// - Parameters:
    ///   - ids: the side that names new records.
    ///   - version: whether records have a version.
    func risks(ids: SyncRules.IDs, version: Bool) -> [Contradiction] {
        var found: [Contradiction] = []
        if ids == .server, !sendsKeys {
            found.append(
                Contradiction(
                    "push", "a new record is made twice if the answer to it is lost, because it is sent without a key",
                    expected: "a key that the service knows, or \"ids\": \"client\""))
        }
        if !version || !sendsVersions {
            found.append(
                Contradiction(
                    "push",
                    "a change overwrites one of another device that was not fetched yet, because it is sent without a version",
                    expected: "\"version\", which the service compares"))
        }
        return found
    }
}
