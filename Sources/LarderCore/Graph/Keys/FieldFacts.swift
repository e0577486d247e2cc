/// The fields by which the answers for a key vary in one store, as far as they are known.
struct FieldFacts: Sendable {
    /// Identifies the requests that may share a call.
    enum Sharing: Hashable {
        /// Requests whose answers are kept under the same key.
        case entry(Key)
        /// Requests with the same fields, because it is not known by which fields answers vary.
        case fields(Key, Fields)
    }

    private static let variantCapacity = 64

    /// The number of the store.
    let store: UInt64
    /// The fields; nil if the last answer to a request with fields did not vary.
    private(set) var variation: Variation?
    /// Whether the store has the marker of the variation.
    var isMarked: Bool
    /// The keys of variants, by the bytes of the fields' values. As texts, equivalent values would be equal.
    private var keys: [[UInt8]: Key] = [:]

    init(_ variation: Variation?, isMarked: Bool = false, in store: UInt64) {
        self.store = store
        self.variation = variation
        self.isMarked = isMarked
    }

    /// Returns the key under which the answer to a request is kept.
    ///
    mutating func entryKey(of request: Request) -> Key {
        guard let variation else { return request.key }
        let values = variation.values(of: request)
        let bytes = Array(values.utf8)
        if let key = keys[bytes] { return key }
        let key = variation.key(of: request.key, for: values)
        if keys.count >= Self.variantCapacity { keys = [:] }
        keys[bytes] = key
        return key
    }

    /// Adds fields by which answers vary. Returns false if there are too many.
    mutating func add(_ names: [String]) -> Bool {
        guard let variation, let wider = variation.adding(names) else { return false }
        if wider != variation { self = FieldFacts(wider, in: store) }
        return true
    }
}
