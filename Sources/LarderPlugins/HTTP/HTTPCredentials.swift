import LarderCore

/// The credentials that an origin adds to its requests. They are those of the account in whose scope the request is, or
/// none.
struct HTTPCredentials: Sendable {
    private let signer: any Signer
    private let account: @Sendable () -> String?
    private let allowsAnonymous: Bool
    private let renewals: HTTPRenewals
    /// The name of the signer with its settings.
    private let name: String

    /// Makes the signer of a part.
    ///
    /// - Throws: an error if the plugin is no signer.
    init(_ part: Part, allowsAnonymous: Bool, in context: Context) throws {
        guard let account = part.traits.account else {
            throw LoadError(.failed, "signer '\(part.plugin.name)' does not set the trait 'account'")
        }
        signer = try part.make((any Signer).self, in: context)
        self.account = account
        self.allowsAnonymous = allowsAnonymous
        renewals = context.share { HTTPRenewals(in: context.world) }
        name = ([part.plugin.name] + part.settings.map(\.description)).joined(separator: "\n")
    }

    /// Returns the account in whose name a request is sent; nil for an anonymous request.
    ///
    /// - Throws: ``LoadError`` if nobody is signed in, or if the scope of the request is another account.
    func owner(of request: Request) throws(LoadError) -> String? {
        guard let scope = request.key.scope else {
            if allowsAnonymous { return nil }
            throw LoadError(.failed, "nobody is signed in, and the policy allows no anonymous calls")
        }
        try check(scope)
        return scope
    }

    /// Checks that an account is still the one that is signed in.
    func check(_ owner: String?) throws(LoadError) {
        guard let owner else { return }
        let present = account()
        // Compared by bytes, because equivalent texts of Unicode are different scopes.
        guard let present, present.utf8.elementsEqual(owner.utf8) else {
            throw LoadError(
                .failed,
                present == nil
                    ? "the account of the request is not signed in any more"
                    : "another account is signed in than the one of the request")
        }
    }

    /// The number of renewals of an account so far. A request notes it before it is signed.
    func renewals(of owner: String) -> Int { renewals.count(of: owner, name) }

    /// Adds the credentials of an account.
    ///
    /// - Throws: the error of the signer; ``LoadError`` if another account has signed in meanwhile.
    func sign(_ request: inout HTTPRequest, for owner: String) async throws {
        do {
            try await signer.sign(&request, for: owner)
        } catch let error as CancellationError where !Task.isCancelled {
            throw LoadError(.failed, "the signer threw CancellationError without being cancelled", origin: error)
        }
        try check(owner)
    }

    /// Renews the credentials of an account, unless that was done since the request was signed.
    ///
    /// - Parameter count: the number of renewals before the request was signed.
    /// - Returns: false if there are no new credentials.
    /// - Throws: the error of the signer; ``LoadError`` if another account has signed in meanwhile.
    func renew(_ owner: String, after count: Int) async throws -> Bool {
        let isNew = try await renewals.renew(owner, name, after: count) { [signer] in
            try await signer.renew(for: owner)
        }
        try check(owner)
        return isNew
    }
}
