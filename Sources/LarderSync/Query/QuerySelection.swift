import Larder

extension Query {
    /// Returns the query as SQL with bound values.
    ///
    /// - Parameter format: the format of values in the records; nil for the default one.
    /// - Throws: ``QueryError`` if it names a field that SQLite cannot name, compares what cannot be compared, or is too
    ///   large.
    func selection(in format: (any JSONFormat.Type)?) throws(QueryError) -> RecordSelection {
        var selection = RecordSelection(limit: count)
        if let condition {
            var writer = ConditionSQL(format: format)
            selection.condition = try writer.text(of: condition.form)
            selection.values = writer.values
        }
        selection.order = try order.map { (order) throws(QueryError) in
            try ConditionSQL.column(order.path) + order.direction.suffix
        }
        return selection
    }
}

extension Query.Direction {
    fileprivate var suffix: String { self == .descending ? " DESC" : "" }
}
