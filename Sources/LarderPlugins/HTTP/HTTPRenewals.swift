import LarderBase
import LarderCore

/// The renewals of credentials in a pantry. All requests of an account that wait for one share it.
final class HTTPRenewals: Sendable {
    private struct Name: Hashable {
        let account: [UInt8]
        let signer: String
    }

    private struct State {
        var count = 0
        var running: Renewal?
    }

    /// A renewal that is under way.
    private final class Renewal: Sendable {
        let task: Task<Void, Never>
        private let result: Locked<Result<Bool, any Error>?>

        init(_ task: Task<Void, Never>, _ result: Locked<Result<Bool, any Error>?>) {
            self.task = task
            self.result = result
        }

        func value() async throws -> Bool {
            await task.value
            return try result.withLock { $0 }?.get() ?? false
        }
    }

    private let world: any World
    private let states = Locked<[Name: State]>([:])

    init(in world: any World) {
        self.world = world
    }

    /// The number of renewals of an account that have brought new credentials.
    func count(of account: String, _ signer: String) -> Int {
        states.withLock { $0[Name(account: Array(account.utf8), signer: signer)]?.count ?? 0 }
    }

    /// Runs `work`, or waits for the renewal that is under way. Does neither if there was a renewal after `count`.
    func renew(
        _ account: String, _ signer: String, after count: Int, _ work: @escaping @Sendable () async throws -> Bool
    ) async throws -> Bool {
        let name = Name(account: Array(account.utf8), signer: signer)
        let renewal = states.withLock { states -> Renewal? in
            let state = states[name] ?? State()
            if state.count > count { return nil }
            if let running = state.running { return running }
            let result = Locked<Result<Bool, any Error>?>(nil)
            // A task of its own, so that it goes on when the first of those who wait is cancelled. It waits for this lock
            // before it ends.
            let task = world.spawn { [self] in
                do {
                    let isNew = try await work()
                    result.withLock { $0 = .success(isNew) }
                    end(name, isNew: isNew)
                } catch {
                    result.withLock { $0 = .failure(error) }
                    end(name, isNew: false)
                }
            }
            let renewal = Renewal(task, result)
            states[name, default: State()].running = renewal
            return renewal
        }
        return try await renewal?.value() ?? true
    }

    private func end(_ name: Name, isNew: Bool) {
        states.withLock { states in
            states[name]?.running = nil
            if isNew { states[name]?.count += 1 }
            if states[name]?.count == 0 { states[name] = nil }
        }
    }
}
