import Dispatch
import Synchronization

/// Watches a network from the first use on.
///
/// There is one instance for the system's network, because a process has one network.
package final class NetworkWatch: Sendable {
    package static let shared = NetworkWatch { followSystem($0) }

    private let current = ManualNetwork()
    private let follow: @Sendable (@escaping @Sendable (NetworkState) -> Void) -> Void
    /// The time in milliseconds that the first use waits for the first state.
    private let patience: Int
    /// Whether no use waits any more.
    private let isReady = Atomic(false)
    private let hasStarted = Locked(false)
    private let isUnanswered = Atomic(true)
    private let answer = DispatchGroup()

    /// Creates a watch that does nothing yet.
    ///
    /// - Parameters:
    ///   - patience: the time in milliseconds that the first use waits for the first state.
    ///   - follow: starts to watch and returns. It passes the present state and each new one to its argument.
    package init(
        patience: Int = 500, follow: @escaping @Sendable (_ report: @escaping @Sendable (NetworkState) -> Void) -> Void
    ) {
        self.patience = patience
        self.follow = follow
    }

    /// The network. Its state is the true one if the system told it in time, and unknown until the system tells it.
    package var network: ManualNetwork {
        if !isReady.load(ordering: .acquiring) { start() }
        return current
    }

    private func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            // All uses wait that come before the answer.
            if !hasStarted { answer.enter() }
            return !hasStarted
        }
        if isFirst { follow { [self] in report($0) } }
        _ = answer.wait(timeout: .now() + .milliseconds(patience))
        isReady.store(true, ordering: .releasing)
    }

    private func report(_ state: NetworkState) {
        current.state = state
        if isUnanswered.exchange(false, ordering: .acquiringAndReleasing) { answer.leave() }
    }

    #if !os(Linux) && !canImport(Network)
        private static func followSystem(_ report: (NetworkState) -> Void) { report(.unknown) }
    #endif
}
