import LarderBase

extension Part {
    /// The source of the account in whose name this part, or a part among its settings, signs its calls.
    fileprivate var account: (@Sendable () -> String?)? {
        traits.account ?? nested.lazy.compactMap(\.account).first
    }
}

extension Policy {
    /// The source of the account in whose name the origin signs its calls, or else an alternative origin or a fallback; nil
    /// if none signs them.
    var account: (@Sendable () -> String?)? {
        ([origin, alternative?.part].compactMap { $0 } + fallbacks).lazy.compactMap(\.account).first
    }
}

extension ResourceState {
    /// Returns the request in the scope of the present account if it has no scope and the policy's origin signs its
    /// calls.
    func owned(_ request: consuming Request) -> Request {
        guard let account = present.use({ $0.account }), request.key.scope == nil, let scope = account() else {
            return request
        }
        return request.with(scope: scope)
    }
}

extension Request {
    /// Returns the same request in another scope.
    fileprivate func with(scope: String) -> Request {
        Request(
            key.resource, parameters, scope: scope, mode: mode, deadline: deadline, priority: priority, fields: fields,
            body: body, purpose: purpose, noOlderThan: noOlderThan)
    }
}

/// A loader that answers only requests with a scope at once.
struct ScopedAnswers: Loader {
    private let loader: any Loader

    init(of loader: any Loader) { self.loader = loader }

    func answer(_ request: Request, codec: AnyCodec, for uses: Uses) -> Loaded<Entry>? {
        request.key.scope == nil ? nil : loader.answer(request, codec: codec, for: uses)
    }

    func load(_ call: Call) async throws -> Loaded<Entry> { try await loader.load(call) }
}
