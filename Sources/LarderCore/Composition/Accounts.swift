import LarderSystem

extension Part {
    /// The source of the account in whose name this part, or a part among its settings, signs its calls.
    fileprivate var account: (@Sendable () -> String?)? {
        originTraits.account ?? customTraits.account ?? nested.lazy.compactMap(\.account).first
    }
}

extension Policy {
    /// The source of the account in whose name the origin signs its calls, or else a fallback; nil if none signs them.
    var account: (@Sendable () -> String?)? {
        (origin.map { [$0] + fallbacks } ?? fallbacks).lazy.compactMap(\.account).first
    }
}

extension Resource {
    /// Whether the policy's origin calls only in the name of an account, and nobody is signed in. Every call without a
    /// scope fails then with ``LoadError/Code/notSignedIn``.
    ///
    /// - Throws: ``LoadError`` if there is no such resource.
    public var lacksAccount: Bool {
        get throws(LoadError) {
            try graph().lacksAccount
        }
    }
}

extension LoaderGraph {
    /// Whether its origin calls only in the name of an account, and nobody is signed in.
    var lacksAccount: Bool {
        guard let origin = policy.origin, !origin.originTraits.allowsAnonymous, let account = origin.account else {
            return false
        }
        return account() == nil
    }

    /// Returns whether the origin cannot be called for a scope. This is so if the origin calls only in the name of the
    /// signed-in account, and this account is another one or none.
    func isSignedOut(_ scope: String?) -> Bool {
        guard let scope, let account = policy.origin?.account else { return false }
        // Compared by bytes, because equivalent texts of Unicode are different scopes.
        return account().map { !$0.utf8.elementsEqual(scope.utf8) } ?? true
    }
}

extension ResourceState {
    /// Returns the present graph's answer to a request whose scope is final, even if it has none and somebody has signed
    /// in since it was made. Otherwise as ``load(_:codec:in:)``.
    func loadInItsScope(_ request: Request, codec: AnyCodec, in pantry: Pantry) async throws -> Loaded<Entry> {
        let graph = try graph(in: pantry)
        guard request.key.isOf(resourceName) else { throw LoadError.otherResource }
        return try await graph.root.load(graph.call(for: request, codec: codec))
    }

    /// Returns the request in the scope of the present account if it has no scope and the policy's origin signs its
    /// calls.
    func owned(_ request: consuming Request) -> Request {
        request.owned(by: present.use { $0.account })
    }
}
