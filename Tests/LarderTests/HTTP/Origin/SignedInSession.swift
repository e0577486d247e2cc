import Larder
import LarderSystem
import LarderSimulation

@testable import LarderPlugins

/// A session of an app: the account that is signed in, and its token.
final class SignedInSession: Sendable {
    struct State {
        var account: String?
        /// The version of the token. It grows with each renewal.
        var version = 1
        var signed = 0
        var renewals = 0
        var cancelled = 0
        var world: SimulatedWorld?
    }

    let state: Locked<State>
    /// Runs while a request is signed.
    let whileSigning: @Sendable (SignedInSession) async throws -> Void
    let whileRenewing: (@Sendable (SignedInSession) async throws -> Bool)?

    init(
        _ account: String?, whileSigning: @escaping @Sendable (SignedInSession) async throws -> Void = { _ in },
        whileRenewing: (@Sendable (SignedInSession) async throws -> Bool)? = nil
    ) {
        state = Locked(State(account: account))
        self.whileSigning = whileSigning
        self.whileRenewing = whileRenewing
    }

    var account: String? {
        get { state.withLock { $0.account } }
        set { state.withLock { $0.account = newValue } }
    }

    var renewals: Int { state.withLock { $0.renewals } }
    /// The number of closures whose sleep was cancelled.
    var cancelled: Int { state.withLock { $0.cancelled } }

    /// Makes the closures sleep in this world.
    func live(in world: SimulatedWorld) { state.withLock { $0.world = world } }

    func sleep(for time: Duration) async throws {
        do {
            try await state.withLock { $0.world }?.sleep(for: time)
        } catch {
            state.withLock { $0.cancelled += 1 }
            throw error
        }
    }

    var plugin: Plugin {
        var renew: (@Sendable (String) async throws -> Bool)?
        if let work = whileRenewing {
            renew = { (_: String) async throws -> Bool in
                self.state.withLock { $0.renewals += 1 }
                let isNew = try await work(self)
                if isNew { self.state.withLock { $0.version += 1 } }
                return isNew
            }
        }
        return .signer("session", account: { self.account }, renew: renew) {
            (request: inout HTTPRequest, account: String) async throws -> Void in
            self.state.withLock { $0.signed += 1 }
            try await self.whileSigning(self)
            let version = self.state.withLock { $0.version }
            request.setField("Authorization", "\(account) \(version)")
        }
    }
}

extension ScriptedTransport {
    /// A server that answers with the credentials it gets.
    static func echo() -> ScriptedTransport {
        ScriptedTransport { request in
            Answer(200, [], request.fields.first { $0.name == "authorization" }?.value ?? "nobody")
        }
    }

    /// A server that accepts only tokens of this version.
    static func accepting(_ version: Int) -> ScriptedTransport {
        ScriptedTransport { request in
            let token = request.fields.first { $0.name == "authorization" }?.value ?? ""
            return token.hasSuffix(" \(version)") ? Answer(200, [], token) : Answer(401, [], "expired")
        }
    }
}
