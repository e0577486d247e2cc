public import LarderFoundation

extension Request {
    /// Texts for the origin that are not part of the key, such as `Accept-Language`.
    ///
    /// An answer may say that it varies by some of them: see ``Metadata/variesBy``. It is then kept for requests with
    /// the same values of these fields only. Until an answer has arrived, requests with different fields share no call.
    public var fields: Fields {
        get { details?.content.fields ?? [:] }
        set { change { $0.fields = newValue } }
    }

    /// The body of a lookup that does not fit into parameters, such as a query. Requests with different bodies have
    /// different keys.
    public var body: Data? { details?.content.body }

    /// The purpose. By default, a user wants the value.
    public var purpose: Purpose {
        get { details?.content.purpose ?? .user }
        set { change { $0.purpose = newValue } }
    }

    /// The age from which a copy is too old for this caller; nil if the policy alone decides.
    ///
    /// Such a copy is not shown for any reason, also not after an error. The call is shared with other callers
    /// nevertheless. The value of a fallback has no age and may be shown.
    public var noOlderThan: Duration? {
        get { details?.content.noOlderThan }
        set { change { $0.noOlderThan = newValue } }
    }

    /// The fields that the origin adds to the request if it lacks them, once a graph answers it.
    var addedFields: Fields { details?.addedFields ?? [:] }

    /// Whether the load is part of no rate.
    var isCountedApart: Bool { !isPlain && (mode == .cachedOnly || purpose == .prefetch) }

    /// The parts that few requests have.
    struct Content: Hashable, Sendable {
        var fields: Fields = [:]
        var body: Data?
        var purpose = Purpose.user
        var noOlderThan: Duration?
    }

    /// Holds the parts that few requests have behind a single reference.
    final class Details: Hashable, Sendable {
        let content: Content
        /// The fields that the origin adds to the request if it lacks them. Equal requests may have different ones.
        let addedFields: Fields

        init(_ content: Content, adding addedFields: Fields = [:]) {
            self.content = content
            self.addedFields = addedFields
        }

        static func unlessEmpty(_ content: Content, adding addedFields: Fields = [:]) -> Details? {
            content == Content() && addedFields.isEmpty ? nil : Details(content, adding: addedFields)
        }

        static func == (left: Details, right: Details) -> Bool { left === right || left.content == right.content }

        func hash(into hasher: inout Hasher) { hasher.combine(content) }
    }

    private mutating func change(_ change: (inout Content) -> Void) {
        var content = details?.content ?? Content()
        change(&content)
        details = Details.unlessEmpty(content, adding: addedFields)
    }
}

extension Request: ShownByDescription {
    /// The name of the resource and the digest of the key: `feed 9f86d081…`, with all 64 digits.
    public var description: String { key.description }
}

extension Request {
    /// Returns the request in the scope of the present account if it has no scope.
    ///
    /// - Parameter account: returns the account; nil if the origin does not sign its calls.
    consuming func owned(by account: (@Sendable () -> String?)?) -> Request {
        guard let account, key.scope == nil, let scope = account() else { return self }
        return Request(
            key.resource, parameters, scope: scope, mode: mode, deadline: deadline, priority: priority, fields: fields,
            body: body, purpose: purpose, noOlderThan: noOlderThan)
    }
}
