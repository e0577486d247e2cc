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

    /// A copy that was served. It is kept as it is and put into words when asked, so that a hit pays for none.
    struct Serving: Sendable, Hashable {
        var tier: String
        var age: Duration
        var use: Uses
        var permissions: Permissions

        var step: Step {
            let reasons = permissions.reasons(for: use)
            let label = use == .fresh ? "fresh copy" : "stale copy"
            let old = age < .zero ? "from the future" : "\(age.brief) old"
            let why = reasons.isEmpty ? "" : ", allowed by " + reasons.joined(separator: " and ")
            return Step(tier, "\(label), \(old)\(why)")
        }
    }

    /// The revision of the policy that decided; nil before a graph has answered.
    public internal(set) var revision: String?
    private var made: [Step] = []
    private var serving: Serving?

    /// A trail of these steps.
    public init(_ steps: [Step] = []) {
        made = steps
    }

    init(_ steps: [Step] = [], serving: Serving) {
        made = steps
        self.serving = serving
    }

    /// The decisions in order.
    public var steps: [Step] {
        guard let serving else { return made }
        return made + [serving.step]
    }

    /// The steps, each on one line.
    public var lines: [String] { steps.map(\.description) }

    /// The steps in one line.
    public var description: String { lines.joined(separator: " → ") }

    /// The same decisions after those of `earlier`.
    func following(_ earlier: [Step]) -> Trail {
        var copy = self
        copy.made = earlier + made
        return copy
    }

    /// Collects the steps of one load from whatever tasks work on it.
    public final class Recorder: Sendable {
        private let collected: Locked<[Step]>?

        /// A recorder without steps.
        public init() {
            collected = Locked([])
        }

        private init(silent: Void) {
            collected = nil
        }

        /// Keeps nothing: for asking a graph whether it can answer at once, which leaves no trace.
        static let silent = Recorder(silent: ())

        /// Adds a step. `event` must hold no key, parameter or payload.
        public func note(_ part: String, _ event: String) {
            add([Step(part, event)])
        }

        /// Adds the steps of a part of the work that kept its own trail.
        public func add(_ steps: [Step]) {
            collected?.withLock { $0 += steps }
        }

        /// The steps so far.
        public var steps: [Step] { collected?.withLock { $0 } ?? [] }
    }
}
