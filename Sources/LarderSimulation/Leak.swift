import Larder

extension SimulatedWorld {
    /// What a run may leave behind when its body returns.
    public enum Leaving: Sendable {
        /// Nothing: what is still under way is a ``SimulatedWorld/Leak``.
        case nothing
        /// Anything: it is cancelled, and nobody hears of it.
        case anything
    }

    /// What was still under way when a run's body had returned and nothing more could run without time passing: a timer
    /// that nobody cancelled, a task that nobody waited for, a continuation that nobody resumed.
    ///
    /// A task that the world did not spawn, such as an unstructured `Task {}`, is noticed only while it sleeps in it.
    public struct Leak: Error, Hashable, CustomStringConvertible {
        /// For each task that had not ended, the uptime at which it was spawned, in the order of spawning.
        public let tasks: [Duration]
        /// How many of these did not end when they were cancelled: they wait for what never comes, or heed nothing.
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
