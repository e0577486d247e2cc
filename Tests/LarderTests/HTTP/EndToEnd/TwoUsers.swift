import LarderFoundation
import Larder
import LarderSystem

/// Two users of one pantry, and a server that answers each with the user's own name.
final class TwoUsers: Sendable {
    /// The way in which the server tells the users apart, and what it says about keeping its answers.
    enum Means: String, CaseIterable, Sendable {
        /// A signer adds the field Authorization.
        case signer
        /// The same, and another account signs in during each request after the first two.
        case changingAccount
        /// Each user has a scope and a field of the app's.
        case scope
        /// A cookie in a scope that both users share. The answers vary by it.
        case varyCookie
        /// A field of the app's, without a scope, over a shared cache.
        case setCookie, isPrivate, noStore

        /// Whether a shared cache may keep nothing.
        var isUnkept: Bool { [.setCookie, .isPrivate, .noStore].contains(self) }

        func scope(of user: String) -> String? {
            switch self {
            case .signer, .changingAccount, .scope: user
            case .varyCookie: "home"
            case .setCookie, .isPrivate, .noStore: nil
            }
        }

        fileprivate var fields: [(name: String, value: String)] {
            switch self {
            case .signer, .changingAccount: [("Cache-Control", "max-age=60")]
            case .scope, .setCookie: [("Cache-Control", "max-age=60"), ("Set-Cookie", "session=secret")]
            case .varyCookie: [("Cache-Control", "max-age=60"), ("Vary", "Cookie")]
            case .isPrivate: [("Cache-Control", "max-age=60, private")]
            case .noStore: [("Cache-Control", "max-age=60, no-store")]
            }
        }
    }

    struct State {
        var account: String?
        var isDown = false
        /// The gate at which answers wait.
        var gate: Gate?
        /// The gate that is opened when a request has arrived.
        var asked: Gate?
        var requests = 0
        /// The conditional requests that named the copy of the other user.
        var wrongTags = 0
        /// The loads that ended with a value: who loaded, and whose data it was.
        var seen: [(user: String, text: String)] = []
    }

    let means: Means
    let served: ServedPantry
    let state: Locked<State>

    var feed: Resource<Data> { served.feed }

    private let strategy: String

    /// - Parameter isStale: whether each answer is stale when it arrives.
    init(_ means: Means, isStale: Bool, strategy: String = "cache-first") async throws {
        let state = Locked(State())
        let server = try ScriptedServer { request in Self.answer(request, means, isStale, state) }
        let signer = Plugin.signer("session", account: { state.withLock { $0.account } }) { request, account in
            request.setField("Authorization", account)
        }
        served = try await ServedPantry(
            server, settings: Self.settings(means), policy: Self.policy(means, strategy, onError: "1h"),
            plugins: [signer])
        (self.means, self.state, self.strategy) = (means, state, strategy)
    }

    /// Loads for a user, who signs in before.
    ///
    /// - Returns: nil if there is no value.
    @discardableResult
    func load(_ user: String, mode: Request.Mode = .normal, purpose: Request.Purpose = .user) async -> String? {
        state.withLock { $0.account = user }
        let fields: Fields =
            switch means {
            case .signer, .changingAccount: [:]
            case .varyCookie: ["cookie": user]
            case .scope, .setCookie, .isPrivate, .noStore: ["x-session": user]
            }
        let request = feed.request(scope: means.scope(of: user), mode: mode, fields: fields, purpose: purpose)
        guard let text = try? await feed.load(request).text else { return nil }
        state.withLock { $0.seen.append((user, text)) }
        return text
    }

    /// Puts a changed policy in effect.
    func reload() async throws {
        let text = ServedPantry.policy(
            served.server, "/items{/id}", Self.settings(means), Self.policy(means, strategy, onError: "2h"))
        _ = try await served.pantry.replace(policies: ["feed": text])
    }

    private static func settings(_ means: Means) -> String {
        [.signer, .changingAccount].contains(means) ? #""sign": "session""# : ""
    }

    private static func policy(_ means: Means, _ strategy: String, onError: String) -> String {
        #"""
        "strategy": { "use": "\#(strategy)", "rest": "0s" },
        "validators": [{ "use": "http", "onError": "\#(onError)", "shared": \#(means.isUnkept) }],
        "store": { "use": "tiered", "tiers": ["memory", "file"] }
        """#
    }

    private static func answer(
        _ request: ScriptedRequest, _ means: Means, _ isStale: Bool, _ state: Locked<State>
    ) -> ScriptedReply {
        let user = request["Authorization"] ?? request["Cookie"] ?? request["X-Session"] ?? "nobody"
        let now = state.withLock { state in
            state.requests += 1
            if let tag = request["If-None-Match"], tag != "\"\(user)\"" { state.wrongTags += 1 }
            if means == .changingAccount, state.requests > 2 { state.account = user == "alice" ? "bob" : "alice" }
            return state
        }
        now.asked?.open()
        var steps: [ScriptedReply.Step] = []
        if let gate = now.gate { steps.append(.wait(gate)) }
        if now.isDown { return ScriptedReply(steps: steps + ScriptedReply.answer(503, [:], user).steps) }
        let isConfirmed = request["If-None-Match"] == "\"\(user)\""
        let body = isConfirmed ? "" : user
        let fields =
            means.fields + [("ETag", "\"\(user)\""), ("Age", isStale ? "120" : "0")]
            + (isConfirmed ? [] : [("Content-Length", "\(body.utf8.count)")])
        let head = ScriptedReply.head(isConfirmed ? 304 : 200, fields)
        return ScriptedReply(steps: steps + [.send(head + body)])
    }
}
