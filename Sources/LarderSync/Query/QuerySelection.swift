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
        selection.fields = ((condition?.form.paths ?? []) + order.map(\.path)).map { $0.joined(separator: ".") }
        return selection
    }
}

extension Query.Condition.Form {
    /// The fields that it is about.
    fileprivate var paths: [[String]] {
        switch self {
        case .compare(let path, _, _), .isOneOf(let path, _), .isNil(let path), .hasPrefix(let path, _),
            .containsText(let path, _), .containsItem(let path, _):
            [path]
        case .all(let forms), .any(let forms): forms.flatMap(\.paths)
        case .not(let form): form.paths
        }
    }
}

extension Query.Direction {
    fileprivate var suffix: String { self == .descending ? " DESC" : "" }
}
