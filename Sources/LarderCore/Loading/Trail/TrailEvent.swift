extension Trail {
    /// An event during a load: its kind, its facts and its description.
    ///
    /// A plugin may note events of its own. Programs read the kind and the facts. People read the description:
    ///
    /// ```swift
    /// extension Trail.Event {
    ///     static func queued(behind calls: Int, for wait: Duration) -> Trail.Event {
    ///         Trail.Event("queued", "waits \("wait", wait) behind \("calls", calls) calls")
    ///     }
    /// }
    ///
    /// call.trail.note("queue", .queued(behind: 3, for: .milliseconds(40)))  // queue: waits 40 ms behind 3 calls
    /// ```
    public struct Event: Sendable, Hashable, CustomStringConvertible {
        /// The kind of an event. A plugin creates a kind of its own with a string literal.
        public struct Kind: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
            /// The name of the kind.
            public let description: String

            /// Creates the kind with this name.
            public init(stringLiteral name: String) {
                description = name
            }
        }

        /// The kind of the event.
        public let kind: Kind
        private(set) var words: Words

        /// Creates an event of this kind.
        ///
        /// - Parameter words: the description, with facts in it. It must hold no key, parameter or payload.
        public init(_ kind: Kind, _ words: Words) {
            self.kind = kind
            self.words = words
        }

        /// Returns the value of a fact; nil if the event does not have it.
        public subscript<Value>(fact: Fact<Value>) -> Value? {
            words.value(of: fact.name)?.content as? Value
        }

        /// Returns the value of a fact; nil if the event does not have it.
        package subscript<Value: RawRepresentable<String>>(fact: Fact<Value>) -> Value? {
            guard case .text(let text) = words.value(of: fact.name) else { return nil }
            return Value(rawValue: text)
        }

        /// The description of the event.
        public var description: String { words.description }

        /// Returns the same event with a fact that is not part of the description.
        func knowing<Value: RawRepresentable<String>>(_ fact: Fact<Value>, _ value: Value) -> Event {
            var copy = self
            copy.words.addHidden(fact.name, .text(value.rawValue))
            return copy
        }

        /// Returns the same event with a fact that is not part of the description.
        func knowing(_ fact: Fact<Int>, _ value: Int) -> Event {
            var copy = self
            copy.words.addHidden(fact.name, .number(value))
            return copy
        }
    }

    /// The name of a fact, and the type of its value.
    ///
    /// A string literal is enough to write a fact. Declare a fact if programs are to read it:
    ///
    /// ```swift
    /// extension Trail.Fact<Duration> {
    ///     static var wait: Self { "wait" }
    /// }
    ///
    /// let wait = step.event[.wait]
    /// ```
    ///
    /// - Note: The type of the value is `Duration`, `Int`, `String`, `[String]`, or a type whose raw value is a
    ///   `String`.
    public struct Fact<Value: Sendable>: Sendable, ExpressibleByStringLiteral {
        /// The name of the fact.
        package let name: String

        /// Creates the fact with this name.
        public init(stringLiteral name: String) {
            self.name = name
        }
    }
}
