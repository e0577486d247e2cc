import Larder

/// The change of one place in a record.
struct FieldChange: Hashable, Sendable {
    /// The names of the members that lead to the place. Empty for the whole record.
    var path: [String]
    /// The value before the change; nil if there was none.
    var before: JSONText?
    /// The value after it; nil if it was removed.
    var after: JSONText?

    static func == (left: FieldChange, right: FieldChange) -> Bool {
        left.path.isSamePlace(as: right.path) && left.before == right.before && left.after == right.after
    }

    /// Whether the change has an effect.
    var isEmpty: Bool { before.meansSame(as: after) }

    /// The items that a list gained, for a list whose changes are merged as a union.
    var added: [JSONText] { Self.items(of: after, without: before) }

    /// The items that a list lost.
    var removed: [JSONText] { Self.items(of: before, without: after) }

    private static func items(of list: JSONText?, without other: JSONText?) -> [JSONText] {
        let others = Set((other?.items ?? []).map(\.canonical))
        return (list?.items ?? []).filter { !others.contains($0.canonical) }
    }

    /// Returns the same gains and losses of a list, made to another one.
    func union(over list: JSONText?) -> FieldChange {
        let lost = Set(removed.map(\.canonical))
        var items = (list?.items ?? []).filter { !lost.contains($0.canonical) }
        let present = Set(items.map(\.canonical))
        items += added.filter { !present.contains($0.canonical) }
        let merged = items.elementsEqual(list?.items ?? []) ? list : JSONText(list: items)
        return FieldChange(path: path, before: list, after: merged)
    }
}

extension JSONText? {
    /// Returns whether both are missing, or mean the same.
    func meansSame(as other: JSONText?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.means(right)
        default: false
        }
    }
}

/// Places in records, which are compared by the bytes of their names.
extension [String] {
    /// Returns whether both are one place.
    func isSamePlace(as other: [String]) -> Bool { count == other.count && isPlace(in: other) }

    /// Returns whether a place is another one, or is inside it.
    func isPlace(in other: [String]) -> Bool {
        starts(with: other) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Returns whether a place comes before another one.
    func precedes(_ other: [String]) -> Bool {
        lexicographicallyPrecedes(other) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
