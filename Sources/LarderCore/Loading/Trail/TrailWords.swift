import LarderSystem

extension Trail {
    /// A description that keeps its facts with their types. The text is created only when it is read.
    public struct Words: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringInterpolation {
        /// The value of a fact.
        enum Value: Sendable, Hashable {
            case time(Duration)
            case number(Int)
            case text(String)
            case list([String])

            var content: Any {
                switch self {
                case .time(let time): time
                case .number(let number): number
                case .text(let text): text
                case .list(let list): list
                }
            }
        }

        fileprivate enum Piece: Sendable, Hashable {
            case text(String)
            case fact(String, Value)
            /// A list, and the separator of its items.
            case list(String, [String], separator: String)
            /// A fact that is not part of the text.
            case hidden(String, Value)

            var fact: (name: String, value: Value)? {
                switch self {
                case .text: nil
                case .fact(let name, let value), .hidden(let name, let value): (name, value)
                case .list(let name, let items, _): (name, .list(items))
                }
            }

            var words: String {
                switch self {
                case .text(let text), .fact(_, .text(let text)): text
                case .fact(_, .time(let time)): time.brief
                case .fact(_, .number(let number)): "\(number)"
                case .fact(_, .list(let items)): items.joined(separator: ", ")
                case .list(_, let items, let separator): items.joined(separator: separator)
                case .hidden: ""
                }
            }
        }

        private var pieces: [Piece]

        /// Creates a description without facts.
        package init(_ text: String) {
            pieces = [.text(text)]
        }

        /// Creates a description without facts.
        public init(stringLiteral text: String) {
            pieces = [.text(text)]
        }

        /// Creates a description with facts.
        public init(stringInterpolation: StringInterpolation) {
            pieces = stringInterpolation.pieces
        }

        /// The text. Times are written as in `800 ms`, and lists with commas.
        public var description: String { pieces.map(\.words).joined() }

        /// The facts, each once, in the order of the text.
        var facts: [(name: String, value: Value)] {
            var names: Set<String> = []
            return pieces.compactMap(\.fact).filter { names.insert($0.name).inserted }
        }

        func value(of fact: String) -> Value? {
            for piece in pieces { if let (name, value) = piece.fact, name == fact { return value } }
            return nil
        }

        mutating func addHidden(_ fact: String, _ value: Value) { pieces.append(.hidden(fact, value)) }

        /// Collects the texts and facts of a description.
        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var pieces: [Piece] = []

            /// Creates an empty interpolation.
            public init(literalCapacity: Int, interpolationCount: Int) {
                pieces.reserveCapacity(2 * interpolationCount)
            }

            /// Adds text.
            public mutating func appendLiteral(_ text: String) {
                if !text.isEmpty { pieces.append(.text(text)) }
            }

            /// Adds a time.
            public mutating func appendInterpolation(_ fact: Fact<Duration>, _ time: Duration) {
                pieces.append(.fact(fact.name, .time(time)))
            }

            /// Adds a number.
            public mutating func appendInterpolation(_ fact: Fact<Int>, _ number: Int) {
                pieces.append(.fact(fact.name, .number(number)))
            }

            /// Adds a text.
            public mutating func appendInterpolation(_ fact: Fact<String>, _ text: String) {
                pieces.append(.fact(fact.name, .text(text)))
            }

            /// Adds a list.
            public mutating func appendInterpolation(
                _ fact: Fact<[String]>, _ items: [String], separator: String = ", "
            ) {
                pieces.append(.list(fact.name, items, separator: separator))
            }

            /// Adds a value whose raw value is a string.
            public mutating func appendInterpolation<Value: RawRepresentable<String>>(
                _ fact: Fact<Value>, _ value: Value
            ) {
                pieces.append(.fact(fact.name, .text(value.rawValue)))
            }

            /// Adds the description and the facts of another event.
            package mutating func appendInterpolation(_ event: Event) {
                pieces += event.words.pieces
            }
        }
    }
}
