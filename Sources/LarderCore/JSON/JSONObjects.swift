// Objects whose members depend on values.

extension JSON {
    /// The members of an object; nil for anything else.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Returns an object with those of the members that have a value.
    package static func present(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Returns an object with a member for each item, except for those whose value is nil.
    package static func each<Item>(
        _ items: some Sequence<Item>, _ member: (Item) -> (name: String, value: JSON?)
    ) -> JSON {
        .object(items.map(member).compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Returns an object with the members of several objects, one after the other.
    package static func joined(_ objects: JSON...) -> JSON { .object(objects.flatMap { $0.members ?? [] }) }
}
