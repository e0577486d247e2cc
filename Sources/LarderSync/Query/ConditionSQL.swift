import Larder

/// Writes conditions as SQL.
///
/// SQLite compares values of different kinds by rules of its own: numbers are smaller than texts, `true` is 1, and an object
/// is its text. A condition here is about values of one kind, so others are ruled out: by a range where an index can use
/// it, and by the kind of the value where the range contains others.
struct ConditionSQL {
    let format: (any JSONFormat.Type)?
    /// The values of the question marks so far, in their order.
    private(set) var values: [RecordValue] = []
    private var parts = 0

    /// The most conditions in a query, and the deepest nesting.
    private static let (mostParts, deepest) = (500, 100)

    init(format: (any JSONFormat.Type)?) { self.format = format }

    /// Returns a condition in parentheses. For a record that does not meet it, it is 0 or null.
    mutating func text(of form: Query.Condition.Form, depth: Int = 0) throws(QueryError) -> String {
        parts += 1
        if parts > Self.mostParts || depth > Self.deepest {
            throw QueryError(
                description: "a query has at most \(Self.mostParts) conditions, nested at most \(Self.deepest) deep")
        }
        switch form {
        case .compare(let path, let comparison, let value):
            return try compared(path, comparison, value.text(in: format, field: path))
        case .isOneOf(let path, let values): return try isOneOf(values, path)
        case .isNil(let path): return try "(\(Self.column(path)) IS NULL)"
        case .hasPrefix(let path, let prefix): return try hasPrefix(prefix, path)
        case .containsText(let path, let text):
            let test = try
                "(\(Self.kind(path)) = 'text' AND instr(\(Self.column(path)),?) > 0 AND \(Self.hasWholeTexts(path)))"
            values.append(.text(text))
            return test
        case .containsItem(let path, let item):
            return try contains(item.text(in: format, field: path), path)
        case .all(let inner): return try joined(inner, by: " AND ", depth)
        case .any(let inner): return try joined(inner, by: " OR ", depth)
        // A comparison with an absent field is null, and not being true is what is meant.
        case .not(let inner): return try "(\(text(of: inner, depth: depth + 1)) IS NOT TRUE)"
        }
    }

    private mutating func joined(
        _ forms: [Query.Condition.Form], by word: String, _ depth: Int
    ) throws(QueryError) -> String {
        var texts: [String] = []
        for form in forms { texts.append(try text(of: form, depth: depth + 1)) }
        return "(" + texts.joined(separator: word) + ")"
    }

    // MARK: Comparisons

    private mutating func compared(
        _ path: [String], _ comparison: Query.Condition.Comparison, _ value: JSONText
    ) throws(QueryError) -> String {
        let column = try Self.column(path)
        switch value.kind {
        case .null where comparison == .equal: return "(\(column) IS NULL)"
        case .bool where comparison == .equal:
            let (kind, number) = value.bool == true ? ("true", 1) : ("false", 0)
            return try "(\(column) = \(number) AND \(Self.kind(path)) = '\(kind)')"
        case .number:
            let upper = comparison.isGreater ? " AND \(column) < ''" : ""
            let check = comparison.includesBool(of: value.number ?? 0) ? try " AND " + Self.isNumber(path) : ""
            return "(\(column) \(comparison.rawValue) \(operand(value))\(upper)\(check))"
        case .string:
            let text = value.string ?? ""
            let lower = comparison.isLess ? " AND \(column) >= ''" : ""
            let check = comparison.includesStructure(of: text) ? try " AND " + Self.isText(path) : ""
            let whole = try " AND " + Self.hasWholeTexts(path)
            return "(\(column) \(comparison.rawValue) \(operand(value))\(lower)\(check)\(whole))"
        default:
            throw QueryError(description: "\(path.asField) is compared with a value that has no order")
        }
    }

    private mutating func isOneOf(_ list: [QueryValue], _ path: [String]) throws(QueryError) -> String {
        let column = try Self.column(path)
        var (plain, others) = ([JSONText](), [JSONText]())
        for value in list {
            let text = try value.text(in: format, field: path)
            // No text is compared further than to this character.
            if text.string?.utf8.contains(0) == true { continue }
            let isPlain =
                switch text.kind {
                case .number: !Query.Condition.Comparison.equal.includesBool(of: text.number ?? 0)
                case .string: !Query.Condition.Comparison.equal.includesStructure(of: text.string ?? "")
                default: false
                }
            if isPlain { plain.append(text) } else if !others.contains(text) { others.append(text) }
        }
        // Values that can be confused with other kinds are compared one by one. There are few such values: true, false, null, 0, 1
        // and texts that begin like an object or a list.
        if others.count > Self.mostParts {
            throw QueryError(description: "\(path.asField) is compared with too many texts that look like JSON")
        }
        var texts: [String] = []
        if !plain.isEmpty {
            // One bound value, so the list can be longer than SQLite's limit of variables.
            values.append(.text(String(decoding: JSONText(list: plain).bytes, as: UTF8.self)))
            let hasTexts = plain.contains { $0.kind == .string }
            let whole = hasTexts ? try " AND " + Self.hasWholeTexts(path) : ""
            texts.append("(\(column) IN (SELECT value FROM json_each(?))\(whole))")
        }
        for other in others { texts.append(try compared(path, .equal, other)) }
        return texts.isEmpty ? "0" : "(" + texts.joined(separator: " OR ") + ")"
    }

    private mutating func hasPrefix(_ prefix: String, _ path: [String]) throws(QueryError) -> String {
        let column = try Self.column(path)
        values.append(.text(prefix))
        var text = "(\(column) >= ?"
        if let end = prefix.firstAfterPrefix {
            values.append(.text(end))
            text += " AND \(column) < ?"
        }
        text += try " AND " + Self.hasWholeTexts(path)
        if prefix.isEmpty || prefix.looksLikeStructure { text += try " AND " + Self.isText(path) }
        return text + ")"
    }

    private mutating func contains(_ item: JSONText, _ path: [String]) throws(QueryError) -> String {
        guard let place = RecordColumns.place(path) else { throw Self.unnamed(path) }
        let test =
            switch item.kind {
            case .string: "item.type = 'text' AND item.atom = \(operand(item))"
            case .number: "item.type IN ('integer','real') AND item.atom = \(operand(item))"
            case .bool: "item.type = '\(item.bool == true ? "true" : "false")'"
            default: "item.type = 'null'"
            }
        let whole = item.kind == .string ? try " AND " + Self.hasWholeTexts(path) : ""
        return try "(\(Self.kind(path)) = 'array' AND EXISTS"
            + " (SELECT 1 FROM json_each(\(RecordColumns.shown),\(place)) AS item WHERE \(test))\(whole))"
    }

    /// Adds a value and returns its place in the text.
    private mutating func operand(_ value: JSONText) -> String {
        if let text = value.string {
            values.append(.text(text))
        } else if let number = value.integer {
            values.append(.integer(number))
        } else {
            // SQLite reads the number as it has read that of the record, down to the last bit.
            values.append(.text(String(decoding: value.bytes, as: UTF8.self)))
            return "json_extract(?,'$')"
        }
        return "?"
    }

    // MARK: Columns

    /// Returns the expression of a field.
    ///
    /// - Throws: ``QueryError`` if SQLite cannot name it.
    static func column(_ path: [String]) throws(QueryError) -> String {
        guard let column = RecordColumns.field(path) else { throw unnamed(path) }
        return column
    }

    private static func kind(_ path: [String]) throws(QueryError) -> String {
        guard let kind = RecordColumns.kind(path) else { throw unnamed(path) }
        return kind
    }

    private static func hasWholeTexts(_ path: [String]) throws(QueryError) -> String {
        guard let check = RecordColumns.hasWholeTexts(path) else { throw unnamed(path) }
        return check
    }

    private static func isNumber(_ path: [String]) throws(QueryError) -> String {
        try kind(path) + " IN ('integer','real')"
    }

    private static func isText(_ path: [String]) throws(QueryError) -> String { try kind(path) + " = 'text'" }

    private static func unnamed(_ path: [String]) -> QueryError {
        QueryError(
            description: path.isEmpty
                ? "a query needs the name of a field"
                : "\(path.asField) cannot be queried: a name is empty, or has a quotation mark, a backslash or a control "
                    + "character")
    }
}

extension Query.Condition.Comparison {
    fileprivate var isLess: Bool { self == .less || self == .lessOrEqual }
    fileprivate var isGreater: Bool { self == .greater || self == .greaterOrEqual }

    /// Whether 0 or 1, as which SQLite sees `false` and `true`, meets the comparison with a number.
    fileprivate func includesBool(of number: Double) -> Bool {
        switch self {
        case .equal: number == 0 || number == 1
        case .less: number > 0
        case .lessOrEqual: number >= 0
        case .greater: number < 1
        case .greaterOrEqual: number <= 1
        }
    }

    /// Whether a text that begins with `[` or `{`, as which SQLite sees lists and objects, may meet the comparison with a
    /// text.
    fileprivate func includesStructure(of text: String) -> Bool {
        let first = text.unicodeScalars.first ?? "\0"
        return self == .equal ? text.looksLikeStructure : isLess ? first >= "[" : first <= "{"
    }
}

extension String {
    /// Whether a list or an object may be written like this.
    fileprivate var looksLikeStructure: Bool { hasPrefix("[") || hasPrefix("{") }

    /// The first text after all that begin with this one; nil if there is none.
    fileprivate var firstAfterPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // The numbers between are no scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let next = Unicode.Scalar(next) {
                var text = String.UnicodeScalarView()
                text.append(contentsOf: scalars + [next])
                return String(text)
            }
        }
        return nil
    }
}
