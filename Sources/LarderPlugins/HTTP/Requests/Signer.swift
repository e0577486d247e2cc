public import LarderCore

extension PluginKind {
    /// Adds the credentials of an account to requests: see ``Signer``.
    public static let signer = PluginKind("signer")
}

/// Adds the credentials of an account to requests. A policy names it: `"origin": { "use": "http", "sign": "session", … }`.
///
/// An app registers one with ``Plugin/signer(_:_:account:renew:sign:)``. A module can declare one with settings of its own
/// by ``Plugin/custom(_:_:_:_:counters:levels:gauges:timings:traits:make:)``: it is of the kind ``PluginKind/signer``, sets
/// ``CustomTraits/account``, and makes a `Signer`.
///
/// The methods may be called from any thread and at the same time.
public protocol Signer: Sendable {
    /// Adds the credentials of `account` to a request.
    ///
    /// It is called for each request, and again for a request that follows a redirect on the same server. A request to
    /// another server is not signed. It is cancelled when the load is, or when the load's time is over. The load does not
    /// wait for its end then.
    ///
    /// - Throws: any error. The request is then not sent. Throw ``LoadError/answer(status:_:)`` if `account` is not the one
    ///   whose credentials are at hand, or must sign in again: the load ends with ``LoadError/Code/notSignedIn``. Any other
    ///   error is a failure of the origin, in whose place a copy may be shown.
    func sign(_ request: inout HTTPRequest, for account: String) async throws

    /// Renews the credentials of `account` after the server has answered 401.
    ///
    /// All requests of the account that wait share one call. Each is then signed and sent once more. A request that is
    /// answered 401 again fails with that answer. The call is cancelled when all loads that wait for it are. It is also
    /// cancelled after the time that one load may take.
    ///
    /// - Returns: whether the credentials are new. By default false: 401 is then the answer.
    /// - Throws: any error, as ``sign(_:for:)`` does. The loads that wait fail with it.
    func renew(for account: String) async throws -> Bool
}

extension Signer {
    /// Returns false.
    public func renew(for account: String) async throws -> Bool { false }
}

extension Plugin {
    /// Creates a signer of an app's closures.
    ///
    /// ```swift
    /// try registry.register(.signer("session", account: { session.user }) { request, account in
    ///     let token = try await session.token(of: account)
    ///     request.setField("Authorization", "Bearer \(token)")
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - account: returns the account that is signed in; nil if there is none. It is asked whenever a request is made,
    ///     so it must be quick: see ``CustomTraits/account``.
    ///   - renew: see ``Signer/renew(for:)``; nil if credentials cannot be renewed.
    ///   - sign: see ``Signer/sign(_:for:)``.
    public static func signer(
        _ name: String, _ about: String = "The app's own.", account: @escaping @Sendable () -> String?,
        renew: (@Sendable (_ account: String) async throws -> Bool)? = nil,
        sign: @escaping @Sendable (_ request: inout HTTPRequest, _ account: String) async throws -> Void
    ) -> Plugin {
        .custom(.signer, name, about, traits: { .with { $0.account = account } }) { (_: Context) in
            ClosureSigner(signing: sign, renewing: renew)
        }
    }
}

/// A signer that calls an app's closures.
private struct ClosureSigner: Signer {
    let signing: @Sendable (inout HTTPRequest, String) async throws -> Void
    let renewing: (@Sendable (String) async throws -> Bool)?

    func sign(_ request: inout HTTPRequest, for account: String) async throws { try await signing(&request, account) }

    func renew(for account: String) async throws -> Bool { try await renewing?(account) ?? false }
}

extension HTTPRequest {
    /// Sets a field, in place of all fields of this name. A name or value that HTTP does not allow is left out.
    public mutating func setField(_ name: String, _ value: String) {
        guard let field = Fields.Field(name, value) else { return }
        fields.removeAll { $0.name == field.name }
        fields.append(field)
    }
}
