/// The decisions that led to a value or an error, one line each.
///
/// ```
/// origin: timed out after 800 ms
/// sqlite: copy, 3 h old, allowed by age.onError 7d
/// ```
///
/// A trail names plugins, times and reasons; never a key, a parameter or a payload.
public struct Trail: Sendable, Hashable, CustomStringConvertible {
    /// One decision.
    public struct Step: Sendable, Hashable, CustomStringConvertible {
        /// Who decided, or whom it befell: `origin`, `memory`, `retry`.
        public var part: String
        /// What happened.
        public var event: String

        /// A decision of `part`.
        public init(_ part: String, _ event: String) {
            self.part = part
            self.event = event
        }

        /// `part: event`.
        public var description: String { "\(part): \(event)" }
    }

    /// The revision of the policy that decided; nil before a graph has answered.
    public internal(set) var revision: String?
    /// The decisions in order.
    public private(set) var steps: [Step]

    /// A trail of these steps.
    public init(_ steps: [Step] = []) {
        self.steps = steps
    }

    init(_ steps: [Step], revision: String?) {
        self.steps = steps
        self.revision = revision
    }

    /// The steps, each on one line.
    public var lines: [String] { steps.map(\.description) }

    /// The steps in one line.
    public var description: String { lines.joined(separator: " → ") }

    /// Collects the steps of one load from whatever tasks work on it.
    public final class Recorder: Sendable {
        private let collected = Locked<[Step]>([])

        /// A recorder without steps.
        public init() {}

        /// Adds a step. `event` must hold no key, parameter or payload.
        public func note(_ part: String, _ event: String) {
            add([Step(part, event)])
        }

        /// Adds the steps of a part of the work that kept its own trail.
        public func add(_ steps: [Step]) {
            collected.withLock { $0 += steps }
        }

        /// The steps so far.
        public var steps: [Step] { collected.withLock { $0 } }
    }
}
