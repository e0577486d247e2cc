// The elements of a dump, as they are expected.

import LarderSystem

extension Node {
    /// The maximum of a time, in seconds.
    private static let mostSeconds = 1e11

    func text(_ name: String) throws(MetricsDump.Unreadable) -> String {
        guard let text = self[name]?.string, text.utf8.count <= 4_096 else {
            throw .init("'\(name)' is missing or not a text")
        }
        return text
    }

    func object(_ name: String) throws(MetricsDump.Unreadable) -> Node {
        guard let node = self[name], node.members != nil else { throw .init("'\(name)' is missing or not an object") }
        return node
    }

    /// Returns the counters' names and values. If there is only a list of values, they have these names.
    func counters(_ names: [String]) throws(MetricsDump.Unreadable) -> [(name: String, value: Node)] {
        if case .list(let values)? = self["counters"]?.content { return zip(names, values).map { ($0, $1) } }
        return try object("counters").members?.map { ($0.name, $0.value) } ?? []
    }

    func list(_ name: String) throws(MetricsDump.Unreadable) -> [Node] {
        guard case .list(let items)? = self[name]?.content else { throw .init("'\(name)' is missing or not a list") }
        return items
    }

    func count(_ name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard let node = self[name] else { throw .init("'\(name)' is missing") }
        return try node.count(named: name)
    }

    func count(named name: String) throws(MetricsDump.Unreadable) -> UInt64 {
        guard case .number(let number, _) = content, number >= 0, number <= Double(MetricsDump.mostCount),
            let count = UInt64(exactly: number)
        else { throw .init("'\(name.prefix(64))' is not a whole number") }
        return count
    }

    /// Returns the numbers of a series.
    func series(named name: String, most: Int) throws(MetricsDump.Unreadable) -> [UInt64] {
        guard let text = string, let numbers = PackedNumbers.numbers(in: text, most: most) else {
            throw .init("'\(name.prefix(64))' is not a series of numbers")
        }
        return numbers
    }

    func time(_ name: String) throws(MetricsDump.Unreadable) -> Timestamp {
        Timestamp(nanoseconds: 0) + (try seconds(name))
    }

    func seconds(_ name: String) throws(MetricsDump.Unreadable) -> Duration {
        guard let node = self[name] else { throw .init("no time '\(name)'") }
        return try node.seconds(named: name)
    }

    func seconds(named name: String) throws(MetricsDump.Unreadable) -> Duration {
        guard case .number(let number, _) = content, abs(number) <= Self.mostSeconds else {
            throw .init("no time '\(name)'")
        }
        return .microseconds(Int64((number * 1e6).rounded()))
    }

    var isTrue: Bool { if case .bool(true) = content { true } else { false } }
}
