import LarderSystem
import LarderCore

/// The credentials that an origin adds to its requests. They are those of the account in whose scope the request is, or
/// none.
struct HTTPCredentials: Sendable {
    private let signer: any Signer
    private let account: @Sendable () -> String?
    private let allowsAnonymous: Bool
    private let world: any World
    /// The longest time that one renewal may take.
    private let limit: Duration
    private let renewals: HTTPRenewals
    /// The name of the signer with its settings.
    private let name: String

    /// Makes the signer of a part.
    ///
    /// - Parameter limit: the longest time that one renewal may take.
    /// - Throws: an error if the plugin is no signer.
    init(_ part: Part, allowsAnonymous: Bool, within limit: Duration, in context: Context) throws {
        guard let account = part.customTraits.account else {
            throw LoadError(.failed, "signer '\(part.plugin.name)' does not set the trait 'account'")
        }
        signer = try part.make((any Signer).self, in: context)
        self.account = account
        self.allowsAnonymous = allowsAnonymous
        self.limit = limit
        world = context.world
        renewals = context.share { HTTPRenewals(in: context.world) }
        name = "\(part)"
    }

    /// Returns the account in whose name a request is sent; nil for an anonymous request.
    ///
    /// - Throws: ``LoadError`` if nobody is signed in, or if the scope of the request is another account.
    func owner(of request: Request) throws(LoadError) -> String? {
        guard let scope = request.key.scope else {
            if allowsAnonymous { return nil }
            throw LoadError(.notSignedIn, "nobody is signed in, and the policy allows no anonymous calls")
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
                .notSignedIn,
                present == nil
                    ? "the account of the request is not signed in any more"
                    : "another account is signed in than the one of the request")
        }
    }

    /// Notes that a request of an account begins. Every call needs one of ``leave(_:)``.
    func enter(_ owner: String) { renewals.enter(owner, name) }

    /// Notes that a request of an account has ended.
    func leave(_ owner: String) { renewals.leave(owner, name) }

    /// The number of renewals of an account so far. A request notes it before it is signed.
    func renewals(of owner: String) -> Int { renewals.count(of: owner, name) }

    /// Returns a request with the credentials of an account.
    ///
    /// - Parameter limit: the longest time that this may take.
    /// - Throws: the error of the signer. ``HTTPFailure`` if it takes too long. ``LoadError`` if another account has
    ///   signed in meanwhile. `CancellationError` at once when the task is cancelled.
    func signed(_ request: HTTPRequest, for owner: String, within limit: Duration) async throws -> HTTPRequest {
        let signed = try await result(within: limit) { [signer] in
            var request = request
            try await signer.sign(&request, for: owner)
            return request
        }
        try check(owner)
        return signed
    }

    /// Renews the credentials of an account, unless that was done since the request was signed.
    ///
    /// - Parameters:
    ///   - count: the number of renewals before the request was signed.
    ///   - wait: the longest time that the request may wait.
    /// - Returns: false if there are no new credentials.
    /// - Throws: as ``signed(_:for:within:)``.
    func renew(_ owner: String, after count: Int, within wait: Duration) async throws -> Bool {
        let isNew = try await renewals.renew(owner, signer: name, after: count, within: wait) { [self] in
            try await result(within: limit) { [signer] in try await signer.renew(for: owner) }
        }
        try check(owner)
        return isNew
    }

    /// Returns the result of a signer's code. When the limit passes or the task is cancelled, the code is cancelled, and
    /// this method does not wait for its end.
    private func result<Value: Sendable>(
        within limit: Duration, of work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let wait = AwaitableWork(in: world) {
            do {
                return try await work()
            } catch let error as CancellationError where !Task.isCancelled {
                throw LoadError(.failed, "the signer threw CancellationError without being cancelled", origin: error)
            } catch var error as LoadError where error.isAnswer {
                // The signer speaks for the account. Only the server speaks for the origin.
                error.code = .notSignedIn
                throw error
            }
        }
        if let value = try await wait.value(within: limit) { return value }
        wait.cancel()
        throw HTTPFailure(.timeout, "the signer took too long")
    }
}
