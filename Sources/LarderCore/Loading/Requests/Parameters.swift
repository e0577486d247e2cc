/// The parameters that identify one instance of a resource: names with values.
///
/// ```swift
/// let page = try await feed.load(["page": "2"])
/// let found = try await feed.load(Parameters(dictionary))
/// ```
///
/// Each name occurs once. The order in which they are written does not matter.
public struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
    @usableFromInline enum Content: Sendable {
        case none
        /// A single parameter, which needs no memory of its own.
        case one(String, String)
        /// Several parameters, in the order of their names.
        case several([Element])
    }

    /// A name and its value.
    public typealias Element = (name: String, value: String)

    @usableFromInline var content: Content

    /// Creates parameters from a literal such as `["id": "42"]`. The program stops if a name occurs twice.
    @inlinable
    public init(dictionaryLiteral elements: (String, String)...) {
        switch elements.count {
        case 0: content = .none
        case 1: content = .one(elements[0].0, elements[0].1)
        default: content = .several(Self.inOrder(elements.map { (name: $0.0, value: $0.1) }))
        }
    }

    /// Creates parameters from a dictionary.
    public init(_ dictionary: [String: String]) {
        self.init(inOrder: Self.inOrder(dictionary.map { (name: $0.key, value: $0.value) }))
    }

    init(inOrder elements: [Element]) {
        switch elements.count {
        case 0: content = .none
        case 1: content = .one(elements[0].name, elements[0].value)
        default: content = .several(elements)
        }
    }

    @usableFromInline
    static func inOrder(_ elements: [Element]) -> [Element] {
        let sorted = sorted(elements)
        precondition(isUnique(sorted), "a parameter is named twice")
        return sorted
    }

    static func sorted(_ elements: [Element]) -> [Element] {
        // Texts that Swift calls equal may have other bytes, and make another key.
        elements.sorted {
            $0.name == $1.name ? $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) : $0.name < $1.name
        }
    }

    /// Returns whether each name in a sorted list occurs once.
    static func isUnique(_ sorted: [Element]) -> Bool {
        zip(sorted, sorted.dropFirst()).allSatisfy { !$0.name.utf8.elementsEqual($1.name.utf8) }
    }

    /// The parameters as a dictionary.
    public var dictionary: [String: String] { Dictionary(map { ($0.name, $0.value) }) { first, _ in first } }

    /// The value of a parameter; nil if there is no parameter of this name.
    public subscript(name: String) -> String? {
        get { first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            let others = filter { !$0.name.utf8.elementsEqual(name.utf8) }
            self = Parameters(inOrder: Self.inOrder(others + (newValue.map { [(name, $0)] } ?? [])))
        }
    }
}

extension Parameters {
    /// Calls `body` with each name and value.
    @inline(__always)
    func forEach(_ body: (String, String) -> Void) {
        switch content {
        case .none: break
        case .one(let name, let value): body(name, value)
        case .several(let elements): for (name, value) in elements { body(name, value) }
        }
    }
}

extension Parameters: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }

    /// The number of parameters.
    public var endIndex: Int {
        switch content {
        case .none: 0
        case .one: 1
        case .several(let elements): elements.count
        }
    }

    /// The parameter at a place. Parameters are in the order of their names.
    public subscript(place: Int) -> Element {
        switch content {
        case .none: [][place]
        case .one(let name, let value): [(name, value)][place]
        case .several(let elements): elements[place]
        }
    }
}

extension Parameters: Hashable {
    /// Returns whether both have the same names with the same values, byte for byte.
    public static func == (left: Parameters, right: Parameters) -> Bool {
        left.elementsEqual(right) {
            $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
        }
    }

    /// Hashes the names and the values.
    public func hash(into hasher: inout Hasher) {
        for (name, value) in self {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}

extension Parameters: ShownByDescription {
    /// The names. Values may be private.
    public var description: String { map(\.name).joined(separator: ", ") }
}
