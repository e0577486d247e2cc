public import Larder

/// A field of records, for queries: the names of the members that lead to it, and the type of its values.
///
/// ```swift
/// extension Collection {
///     static let owner = Field<String>("ownerId")
///     static let updated = Field<Date>("updatedAt")
///     static let city = Field<String>("address", "city")
/// }
///
/// let mine = Query(Collection.owner == me && Collection.city != "Osaka")
/// ```
///
/// Values are written in the `JSONFormat` of the ``Records`` that are queried, so a date is compared in the form
/// in which records hold it.
public struct Field<Value>: Sendable {
    /// The names of the members that lead to the field.
    let path: [String]

    /// Creates a field from the name of a member. More names lead into the object that it holds.
    public init(_ name: String, _ innerNames: String...) { path = [name] + innerNames }

    /// Creates a field from the place of a member. A place inside a list cannot be queried.
    public init(_ pointer: JSONPointer) { path = pointer.steps }

    /// Whether the field is absent or null.
    public var isNil: Query.Condition { Query.Condition(.isNil(path)) }
}

// MARK: Equality

extension Field where Value: Encodable & Sendable {
    /// Returns the condition that a field has a value. Of an optional field, nil means absent or null.
    public static func == (field: Field, value: Value) -> Query.Condition {
        Query.Condition(.compare(field.path, .equal, QueryValue(value)))
    }

    /// Returns the condition that a field does not have a value. Records without the field are included.
    public static func != (field: Field, value: Value) -> Query.Condition { !(field == value) }

    /// Returns the condition that a field has one of several values.
    public func `in`(_ values: some Sequence<Value>) -> Query.Condition {
        Query.Condition(.isOneOf(path, values.map { QueryValue($0) }))
    }
}

// MARK: Order

extension Field where Value: Encodable & Sendable & Comparable {
    /// Returns the condition that a field has a smaller value.
    public static func < (field: Field, value: Value) -> Query.Condition {
        Query.Condition(.compare(field.path, .less, QueryValue(value)))
    }

    /// Returns the condition that a field has this value or a smaller one.
    public static func <= (field: Field, value: Value) -> Query.Condition {
        Query.Condition(.compare(field.path, .lessOrEqual, QueryValue(value)))
    }

    /// Returns the condition that a field has a larger value.
    public static func > (field: Field, value: Value) -> Query.Condition {
        Query.Condition(.compare(field.path, .greater, QueryValue(value)))
    }

    /// Returns the condition that a field has this value or a larger one.
    public static func >= (field: Field, value: Value) -> Query.Condition {
        Query.Condition(.compare(field.path, .greaterOrEqual, QueryValue(value)))
    }
}

extension Field {
    /// Returns the condition that an optional field has a smaller value.
    public static func < <Wrapped: Encodable & Sendable & Comparable>(field: Field, value: Wrapped) -> Query.Condition
    where Value == Wrapped? {
        Field<Wrapped>(JSONPointer(steps: field.path)) < value
    }

    /// Returns the condition that an optional field has this value or a smaller one.
    public static func <= <Wrapped: Encodable & Sendable & Comparable>(field: Field, value: Wrapped) -> Query.Condition
    where Value == Wrapped? {
        Field<Wrapped>(JSONPointer(steps: field.path)) <= value
    }

    /// Returns the condition that an optional field has a larger value.
    public static func > <Wrapped: Encodable & Sendable & Comparable>(field: Field, value: Wrapped) -> Query.Condition
    where Value == Wrapped? {
        Field<Wrapped>(JSONPointer(steps: field.path)) > value
    }

    /// Returns the condition that an optional field has this value or a larger one.
    public static func >= <Wrapped: Encodable & Sendable & Comparable>(field: Field, value: Wrapped) -> Query.Condition
    where Value == Wrapped? {
        Field<Wrapped>(JSONPointer(steps: field.path)) >= value
    }
}

// MARK: Parts

extension Field where Value == String {
    /// Returns the condition that a text begins with another one.
    public func hasPrefix(_ prefix: String) -> Query.Condition { Query.Condition(.hasPrefix(path, prefix)) }

    /// Returns the condition that a text contains another one.
    public func contains(_ text: String) -> Query.Condition { Query.Condition(.containsText(path, text)) }
}

extension Field where Value == String? {
    /// Returns the condition that a text is there and begins with another one.
    public func hasPrefix(_ prefix: String) -> Query.Condition { Query.Condition(.hasPrefix(path, prefix)) }

    /// Returns the condition that a text is there and contains another one.
    public func contains(_ text: String) -> Query.Condition { Query.Condition(.containsText(path, text)) }
}

extension Field where Value: Sequence, Value.Element: Encodable & Sendable {
    /// Returns the condition that a list contains an item.
    public func contains(_ item: Value.Element) -> Query.Condition {
        Query.Condition(.containsItem(path, QueryValue(item)))
    }
}

extension Field {
    /// Returns the condition that a list is there and contains an item.
    public func contains<Items: Sequence>(_ item: Items.Element) -> Query.Condition
    where Value == Items?, Items.Element: Encodable & Sendable {
        Query.Condition(.containsItem(path, QueryValue(item)))
    }
}
