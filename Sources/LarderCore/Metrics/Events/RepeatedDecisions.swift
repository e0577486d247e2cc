import LarderSystem

/// Leaves out decisions that repeat for one cause, so that a log is not filled with them.
///
/// Of refused policies and interrupted files, the 1st, 10th, 100th and so on with the same cause are told, with the
/// count.
final class RepeatedDecisions: Sendable {
    private let counts = Locked<[String: Int]>([:])

    /// The largest number of causes that are counted.
    private static let capacity = 100

    /// Returns a decision as it is to be told; nil if it is left out.
    func told(_ decision: Decision) -> Decision? {
        guard decision.kind == .refused || decision.kind == .interrupted else { return decision }
        let note = decision.note
        // A number in the note does not make another cause, but a position in a policy does.
        let cause =
            decision.kind.rawValue
            + (decision.kind == .interrupted ? note.filter { !$0.isASCII || !$0.isNumber } : note)
        let count = counts.withLock { counts in
            if counts[cause] == nil, counts.count >= Self.capacity { counts = [:] }
            counts[cause, default: 0] += 1
            return counts[cause, default: 1]
        }
        if count == 1 { return decision }
        guard Self.isPowerOfTen(count) else { return nil }
        return Decision(
            at: decision.at, resource: decision.resource, revision: decision.revision, kind: decision.kind,
            note: "\(note) (\(count) times)")
    }

    /// Forgets the refused policies, because policies took effect.
    func endRefusals() {
        counts.withLock { counts in
            counts = counts.filter { !$0.key.hasPrefix(Decision.Kind.refused.rawValue) }
        }
    }

    private static func isPowerOfTen(_ count: Int) -> Bool {
        var rest = count
        while rest % 10 == 0 { rest /= 10 }
        return rest == 1
    }
}
