import LarderSystem
import LarderCore

/// The renewals of credentials in a pantry. All requests of an account that wait for one share it.
///
/// An account is remembered only while requests of it are under way.
final class HTTPRenewals: Sendable {
    private struct Name: Hashable {
        let account: [UInt8]
        let signer: String

        init(_ account: String, _ signer: String) {
            // Equivalent texts of Unicode are different accounts.
            (self.account, self.signer) = (Array(account.utf8), signer)
        }
    }

    private struct State {
        /// The number of requests that are under way.
        var requests = 0
        /// The number of renewals that have brought new credentials while requests were under way.
        var count = 0
        var running: AwaitableWork<Bool>?
    }

    private let world: any World
    private let states = Locked<[Name: State]>([:])

    init(in world: any World) {
        self.world = world
    }

    /// The number of accounts that are remembered.
    var accounts: Int { states.withLock { $0.count } }

    /// Notes that a request of an account begins.
    func enter(_ account: String, _ signer: String) {
        states.withLock { $0[Name(account, signer), default: State()].requests += 1 }
    }

    /// Notes that a request of an account has ended. With the last one, the account is forgotten, and a renewal that is
    /// under way is cancelled.
    func leave(_ account: String, _ signer: String) {
        let name = Name(account, signer)
        let unneeded = states.withLock { states -> AwaitableWork<Bool>? in
            states[name]?.requests -= 1
            guard let state = states[name], state.requests <= 0 else { return nil }
            states[name] = nil
            return state.running
        }
        unneeded?.cancel()
    }

    /// The number of renewals of an account that have brought new credentials. Between ``enter(_:_:)`` and
    /// ``leave(_:_:)`` it does not become smaller.
    func count(of account: String, _ signer: String) -> Int {
        states.withLock { $0[Name(account, signer)]?.count ?? 0 }
    }

    /// Runs `work`, or waits for the renewal that is under way. Does neither if there was a renewal after `count`. The
    /// renewal goes on when some of its waiters are cancelled. It is cancelled when all are.
    ///
    /// - Parameter limit: the longest wait.
    /// - Throws: the error of `work`; ``HTTPFailure`` if the limit passes.
    func renew(
        _ account: String, signer: String, after count: Int, within limit: Duration,
        work: @escaping @Sendable () async throws -> Bool
    ) async throws -> Bool {
        let name = Name(account, signer)
        let end = world.uptime + limit
        while true {
            let (renewal, isFirst) = states.withLock { states -> (AwaitableWork<Bool>?, Bool) in
                let state = states[name] ?? State()
                if state.count > count { return (nil, false) }
                if let running = state.running { return (running, false) }
                let new = AwaitableWork<Bool>(in: world)
                states[name, default: State()].running = new
                return (new, true)
            }
            guard let renewal else { return true }
            if isFirst { begin(renewal, of: name, work) }
            do {
                if let isNew = try await renewal.value(within: end - world.uptime) { return isNew }
                throw HTTPFailure(.timeout, "the credentials were not renewed within the limit")
            } catch is CancellationError where !Task.isCancelled {
                // All who waited for it before were cancelled. The next round begins another one.
                self.end(renewal, of: name, isNew: false)
            }
        }
    }

    private func begin(
        _ renewal: AwaitableWork<Bool>, of name: Name, _ work: @escaping @Sendable () async throws -> Bool
    ) {
        renewal.begin { [self] in
            do {
                let isNew = try await work()
                end(renewal, of: name, isNew: isNew)
                return isNew
            } catch {
                end(renewal, of: name, isNew: false)
                throw error
            }
        }
    }

    private func end(_ renewal: AwaitableWork<Bool>, of name: Name, isNew: Bool) {
        states.withLock { states in
            guard states[name]?.running === renewal else { return }
            states[name]?.running = nil
            if isNew { states[name]?.count += 1 }
        }
    }
}
