import LarderSystem

/// The decisions that led to a value or an error.
///
/// Each decision prints as one line:
///
/// ```
/// origin: timed out after 800 ms
/// sqlite: stale copy, 3 h old, allowed by age.onError 7d
/// ```
///
/// A trail names plugins, times and reasons; never a key, a parameter or a payload.
public struct Trail: Sendable, Hashable, CustomStringConvertible {
    /// One decision.
    public struct Step: Sendable, Hashable, CustomStringConvertible {
        /// The part of the graph to which the decision belongs: `origin`, `memory`, `retry`.
        public var part: String
        /// The decision, with its facts.
        public var event: Event

        /// Creates a decision of `part`.
        package init(_ part: String, _ event: Event) {
            self.part = part
            self.event = event
        }

        /// The part and the description of the event: `retry: timed out after 800 ms; try 2 after 1 s`.
        public var description: String { "\(part): \(event)" }
    }

    /// The revision of the policy; nil before a graph has answered.
    package internal(set) var revision: String?
    /// The decisions, in order.
    public private(set) var steps: [Step]

    /// Creates a trail of these steps.
    @usableFromInline package init(_ steps: [Step] = []) {
        self.steps = steps
    }

    init(_ steps: [Step], revision: String?) {
        self.steps = steps
        self.revision = revision
    }

    /// The steps, each on one line.
    public var lines: [String] { steps.map(\.description) }

    /// All steps on one line.
    public var description: String { lines.joined(separator: " → ") }

    /// Collects the steps of one load. Several tasks may use it at the same time.
    public final class Recorder: Sendable {
        private let collected = Locked<[Step]>([])

        /// Creates a recorder without steps.
        package init() {}

        /// Adds a step. Its description is created only when it is read.
        ///
        /// - Parameters:
        ///   - part: the name of the part, such as the name of a plugin.
        ///   - event: an event of ``Trail/Event``, or an event of your own. It must hold no key, parameter or payload.
        public func note(_ part: String, _ event: Event) {
            let step = Step(part, event)
            collected.withLock { $0.append(step) }
        }

        /// Adds steps from another trail.
        public func add(_ steps: [Step]) {
            // The steps of a shared call are mostly the first, and are not copied then.
            collected.withLock { if $0.isEmpty { $0 = steps } else { $0 += steps } }
        }

        /// The steps so far.
        public var steps: [Step] { collected.withLock { $0 } }
    }
}
