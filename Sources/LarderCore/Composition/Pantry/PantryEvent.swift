import LarderSystem

/// An event of the policies of a running pantry, or of its cache folder.
public enum PantryEvent: Sendable {
    /// Policies were reloaded. The list has all changes, which took effect one resource at a time. It is empty if
    /// policies that had been rejected are again the same as those in effect.
    case reloaded([PolicyChange])
    /// New policies were rejected. The last sound policies stay in effect.
    case rejected(PolicyError)
    /// A part of the cache folder cannot be used, and the pantry goes on without it; or a clearing is not finished.
    case cacheUnusable(CacheProblem)
    /// A part of the cache folder works again, or the clearing is finished.
    case cacheUsable(CacheProblem)
    /// Another program moved, deleted or emptied the log or the dump, which is begun anew; or lines are missing in the
    /// log.
    case interrupted(String)
    /// The device has no network. Copies are shown without calls where the policy allows it.
    case offline
    /// The network has returned after some time without one. The refreshes that waited for it begin soon.
    case online(after: Duration)
}

/// A change of one resource's policy.
public struct PolicyChange: Sendable, Hashable, CustomStringConvertible {
    /// The name of the resource.
    public let resource: String
    /// The former revision; nil if the resource is new.
    public let from: String?
    /// The present revision; nil if the resource was removed.
    public let to: String?
    /// Whether the policy names another source of data, such as another URL. Kept copies of the former source are not used.
    public package(set) var isOtherSource = false
    /// The number of kept copies that are of another source and not used; nil if they were not counted, or cannot be.
    package var unusedCopies: Int?

    /// `feed: 03284ee171ef → 9a1c0c6f1d2e`.
    public var description: String {
        let change = "\(resource): \(from ?? "new") → \(to ?? "gone")"
        if !isOtherSource { return change }
        let copies =
            switch unusedCopies {
            case nil: "copies of the former one are"
            case 1?: "1 copy is"
            case let count?: "\(count == 0 ? "no" : "\(count)") copies are"
            }
        return "\(change); the data comes from another source: \(copies) left unused"
    }
}

extension PantryEvent {
    /// Returns the event as decisions for the log.
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
        case .offline:
            [Decision(at: now, resource: nil, revision: nil, kind: .network, note: "the device is offline")]
        case .online(let time):
            [
                Decision(
                    at: now, resource: nil, revision: nil, kind: .network, note: "online again after \(time.spelled)")
            ]
        case .cacheUsable(let problem):
            [Decision(at: now, resource: problem.resource, revision: nil, kind: .cacheUsable, note: problem.resolved)]
        }
    }
}
