/// A question to records: which ones, in which order, and how many.
///
/// ```swift
/// let mine = Query(Collection.owner == me).sorted(by: Collection.updated, .descending).limit(50)
/// ```
///
/// A condition on a field and an order are quick if the policy declares an index that begins with the fields of the
/// condition and goes on with the order.
///
/// Texts are compared by their Unicode scalars: case matters, and a composed letter differs from its parts. A field that is
/// absent or null is neither smaller nor larger than a value, and not equal to it. Neither is a text with the character
/// U+0000, or a list with such a text.
public struct Query: Sendable {
    var condition: Condition?
    var order: [Order] = []
    var count: Int?

    /// Creates a query for the records that meet a condition.
    public init(_ condition: Condition) { self.condition = condition }

    /// Creates a query for all records.
    public init() {}

    /// The directions in which records are sorted.
    public enum Direction: Sendable, Hashable {
        /// The smallest value first. Records without the field come before all others.
        case ascending
        /// The largest value first. Records without the field come after all others.
        case descending
    }

    struct Order: Hashable, Sendable {
        var path: [String]
        var direction: Direction
    }

    /// Returns the query with records sorted by a field. A second call sorts those that are equal in the first field.
    ///
    /// Numbers come before texts. Records that are equal in all fields, and those of a query without an order, are in the
    /// order in which they came to this device. A record keeps its place in it when the service names or changes it.
    public func sorted<Value>(by field: Field<Value>, _ direction: Direction = .ascending) -> Query {
        var query = self
        query.order.append(Order(path: field.path, direction: direction))
        return query
    }

    /// Returns the query for at most this number of records: the first ones in its order.
    public func limit(_ count: Int) -> Query {
        var query = self
        query.count = max(0, count)
        return query
    }
}

/// A query that cannot be asked.
public struct QueryError: Error, Hashable, CustomStringConvertible {
    /// The reason. It names fields, and no values.
    public let description: String
}
