import LarderBase
import Larder

/// The network of a simulated world, with those who listen to its changes.
final class SimulatedNetwork: Sendable {
    private struct State {
        var network = NetworkState.unknown
        var next = 0
        var listeners: [Int: AsyncStream<NetworkState>.Continuation] = [:]
    }

    private let state = Locked(State())

    var network: NetworkState { state.withLock { $0.network } }

    /// Sets the state, and tells every listener in the order in which they began to listen.
    func set(_ network: NetworkState) {
        let listeners = state.withLock { state in
            guard state.network != network else { return [(key: Int, value: AsyncStream<NetworkState>.Continuation)]() }
            state.network = network
            return state.listeners.sorted { $0.key < $1.key }
        }
        for (_, listener) in listeners { listener.yield(network) }
    }

    /// A stream of the present state and each new one.
    var changes: AsyncStream<NetworkState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
            let (number, network) = state.withLock { state in
                state.next += 1
                state.listeners[state.next] = listener
                return (state.next, state.network)
            }
            listener.yield(network)
            listener.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
        }
    }
}
