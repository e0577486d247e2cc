/// Something that happened to the policies of a running pantry, or to its cache folder.
public enum PantryEvent: Sendable {
    /// Policies were swapped: all that changed, each in one step. Nothing did when policies that had been refused say again
    /// what is in effect.
    case reloaded([PolicyChange])
    /// New policies were refused; the last good ones stay in effect.
    case rejected(PolicyError)
    /// Something in the cache folder cannot be used; the pantry goes on without it.
    case cacheUnusable(CacheProblem)
    /// A part of the cache folder works again.
    case cacheUsable(CacheProblem)
    /// The log or the dump was moved, deleted or emptied by another program and is begun anew, or lines are missing in the
    /// log.
    case interrupted(String)
}

/// What became of one resource's policy.
public struct PolicyChange: Sendable, Hashable, CustomStringConvertible {
    /// The resource.
    public let resource: String
    /// The revision that was in effect; nil if the resource is new.
    public let from: String?
    /// The revision that is in effect; nil if the resource is gone.
    public let to: String?

    /// `feed: 03284ee171ef → 9a1c0c6f1d2e`.
    public var description: String { "\(resource): \(from ?? "new") → \(to ?? "gone")" }
}

extension PantryEvent {
    /// The same for the log.
    func decisions(at now: Timestamp) -> [Decision] {
        switch self {
        case .reloaded(let changes):
            changes.map {
                Decision(at: now, resource: $0.resource, revision: $0.to, kind: .policy, note: $0.description)
            }
        case .rejected(let error):
            [
                Decision(
                    at: now, resource: nil, revision: nil, kind: .refused,
                    note: error.problems.filter { $0.severity == .error }.map(\.description).joined(separator: "; "))
            ]
        case .cacheUnusable(let problem):
            [
                Decision(
                    at: now, resource: problem.resource, revision: nil, kind: .cacheUnusable, note: problem.description)
            ]
        case .interrupted(let note): [Decision(at: now, resource: nil, revision: nil, kind: .interrupted, note: note)]
        case .cacheUsable(let problem):
            [Decision(at: now, resource: problem.resource, revision: nil, kind: .cacheUsable, note: problem.resolved)]
        }
    }
}
