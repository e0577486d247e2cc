extension Part {
    /// The fields that this part, or a part among its settings, adds to requests.
    fileprivate var addedFields: [Fields.Field] {
        Array(originTraits.addedFields) + Array(customTraits.addedFields) + nested.flatMap(\.addedFields)
    }
}

extension Policy {
    /// The fields that the origin adds to requests that lack them.
    var addedFields: Fields {
        (origin?.addedFields ?? []).reduce(into: Fields()) { $0.add($1) }
    }
}
