import Larder

extension SimulatedWorld {
    /// The work that a run may leave behind when its body returns.
    public enum Leaving: Sendable {
        /// Nothing. Work that is still running is a ``SimulatedWorld/Leak``.
        case nothing
        /// Anything. Work that is still running is cancelled without an error.
        case anything
    }

    /// The work that was left when a run's body had returned and nothing more could run without time passing. It is an
    /// uncancelled timer, a task that was not awaited, or a continuation that was not resumed.
    ///
    /// A task that the world did not spawn, such as an unstructured `Task {}`, is noticed only while it sleeps in the
    /// world.
    public struct Leak: Error, Hashable, CustomStringConvertible {
        /// For each task that had not ended, the uptime at which it was spawned, in the order of spawning.
        public let tasks: [Duration]
        /// The number of these tasks that did not end when they were cancelled.
        public let deaf: Int
        /// For each sleeper, the uptime until which it would have slept, the earliest first.
        public let sleepers: [Duration]

        /// One line: `2 tasks left behind (spawned at 0 s, 3 s), 1 of them even when cancelled; 1 asleep (until 8 s)`.
        public var description: String {
            var parts: [String] = []
            if !tasks.isEmpty {
                var part = "\(tasks.count) task\(tasks.count == 1 ? "" : "s") left behind (spawned at \(list(tasks)))"
                if deaf > 0 { part += ", \(deaf) of them even when cancelled" }
                parts.append(part)
            }
            if !sleepers.isEmpty { parts.append("\(sleepers.count) asleep (until \(list(sleepers)))") }
            return parts.joined(separator: "; ")
        }

        private func list(_ moments: [Duration]) -> String {
            let texts = moments.prefix(5).map { $0 < .forever ? $0.brief : "cancelled" }
            return texts.joined(separator: ", ") + (moments.count > 5 ? ", …" : "")
        }
    }
}
