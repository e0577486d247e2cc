import LarderFoundation
import Larder
import LarderSystem
import Testing

/// Two users of one pantry never see each other's data.
@Suite(.timeLimit(.minutes(20))) struct HTTPPrivacyTests {
    enum Situation: CaseIterable, Sendable {
        case load, revalidation, coalescing, staleFallback, prefetch, reload, clear
    }

    @Test(arguments: TwoUsers.Means.allCases, Situation.allCases)
    func noUserGetsTheDataOfTheOther(_ means: TwoUsers.Means, _ situation: Situation) async throws {
        let isStale = [.revalidation, .staleFallback, .clear].contains(situation)
        let users = try await TwoUsers(means, isStale: isStale)
        let purpose: Request.Purpose = situation == .prefetch ? .prefetch : .user
        for user in ["alice", "bob"] { #expect(await users.load(user, purpose: purpose) == user) }
        switch situation {
        case .load, .prefetch: await Self.loadBoth(users)
        case .revalidation:
            await Self.loadBoth(users)
            await Self.loadBoth(users, mode: .refresh)
        case .coalescing:
            try await Self.loadAtOnce(users, "alice", "bob")
            try await Self.loadAtOnce(users, "bob", "alice")
        case .staleFallback:
            users.state.withLock { $0.isDown = true }
            await Self.loadBoth(users)
            await Self.loadBoth(users, mode: .cachedOnly)
        case .reload:
            try await users.reload()
            await Self.loadBoth(users)
            await Self.loadBoth(users, mode: .refresh)
        case .clear: try await Self.clear(users)
        }
        let state = users.state.withLock { $0 }
        #expect(state.seen.allSatisfy { $0.user == $0.text } && state.wrongTags == 0)
        if means.isUnkept {
            #expect(try await users.feed.list().entries.isEmpty)
            await users.served.pantry.close()
            for user in ["alice", "bob"] { #expect(try !users.served.isOnDisk(user)) }
        }
    }

    @Test(arguments: [TwoUsers.Means.signer, .scope, .varyCookie, .setCookie, .isPrivate, .noStore])
    func usersShareNoCallOfAStrategyThatKeepsNothing(_ means: TwoUsers.Means) async throws {
        let users = try await TwoUsers(means, isStale: false, strategy: "network-only")
        for user in ["alice", "bob"] { #expect(await users.load(user) == user) }
        try await Self.loadAtOnce(users, "alice", "bob")
        try await Self.loadAtOnce(users, "bob", "alice")
        #expect(users.state.withLock { $0.seen.allSatisfy { $0.user == $0.text } })
    }

    private static func loadBoth(_ users: TwoUsers, mode: Request.Mode = .normal) async {
        for user in ["alice", "bob", "alice"] { await users.load(user, mode: mode) }
    }

    /// Loads for the second user while the load of the first waits for the server.
    private static func loadAtOnce(_ users: TwoUsers, _ first: String, _ second: String) async throws {
        let (asked, gate, isDone) = (Gate(), Gate(), Locked(false))
        users.state.withLock { ($0.asked, $0.gate) = (asked, gate) }
        let before = users.state.withLock { $0.requests }
        let early = Task { await users.load(first, mode: .refresh) }
        try await asked.opened()
        let late = Task {
            await users.load(second, mode: .refresh)
            isDone.withLock { $0 = true }
        }
        // Until the second load has sent its own request, has ended, or has had the time to join the call of the first.
        for _ in 0..<2_000 {
            if isDone.withLock({ $0 }) || users.state.withLock({ $0.requests }) > before + 1 { break }
            _ = await users.served.pantry.metrics.dump()
        }
        gate.open()
        _ = await (early.value, late.value)
        users.state.withLock { ($0.asked, $0.gate) = (nil, nil) }
    }

    /// Clears the copies of one user while a call is on its way.
    private static func clear(_ users: TwoUsers) async throws {
        let (asked, gate) = (Gate(), Gate())
        users.state.withLock { ($0.asked, $0.gate) = (asked, gate) }
        let early = Task { await users.load("alice", mode: .refresh) }
        try await asked.opened()
        try await users.feed.clear(.scope(users.means.scope(of: "alice")))
        gate.open()
        _ = await early.value
        users.state.withLock { ($0.asked, $0.gate, $0.isDown) = (nil, nil, true) }
        #expect(await users.load("alice") == nil)
        #expect(await users.load("alice", mode: .cachedOnly) == nil)
        let bob = await users.load("bob")
        // Where the account changes during the request, the copy is kept, but not shown.
        #expect(bob == ([.signer, .scope].contains(users.means) ? "bob" : nil))
        if let bob = users.means.scope(of: "bob"), bob == "bob" {
            #expect(try await users.feed.contains(scope: bob))
        }
    }
}
