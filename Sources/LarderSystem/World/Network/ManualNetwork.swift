import Synchronization

/// A network whose state an app or a test sets.
///
/// An app that knows its network better than the system does gives one to its world:
///
/// ```swift
/// let network = ManualNetwork(.online)
/// let pantry = try await Pantry(policies: folder, world: SystemWorld(network: network))
/// network.state = .offline   // the server of this app can be reached only through a VPN that has ended
/// ```
public final class ManualNetwork: NetworkSource {
    private struct Listeners {
        var next = 0
        var streams: [Int: AsyncStream<NetworkState>.Continuation] = [:]
        var callbacks: [Int: @Sendable () -> Void] = [:]
    }

    /// The present state, which is written only while the listeners are locked.
    private let present: Atomic<UInt16>
    private let listeners = Locked(Listeners())

    /// Creates a network in a state, by default unknown.
    public init(_ state: NetworkState = .unknown) {
        present = Atomic(state.packed)
    }

    /// The state of the network. A new state is sent to every reader of ``changes``; reading takes no lock.
    public var state: NetworkState {
        get { NetworkState(packed: present.load(ordering: .acquiring)) }
        set {
            // Under the lock, so that all listeners get the states in the order in which they were set.
            let callbacks = listeners.withLock { listeners in
                let packed = newValue.packed
                guard present.exchange(packed, ordering: .acquiringAndReleasing) != packed else {
                    return [(key: Int, value: @Sendable () -> Void)]()
                }
                for (_, stream) in listeners.streams.sorted(by: { $0.key < $1.key }) { stream.yield(newValue) }
                return listeners.callbacks.sorted { $0.key < $1.key }
            }
            for (_, changed) in callbacks { changed() }
        }
    }

    /// Calls `changed` on the thread that has set another state, until the subscription ends.
    public func onChange(_ changed: @escaping @Sendable () -> Void) -> Subscription {
        let number = listeners.withLock { listeners in
            listeners.next += 1
            listeners.callbacks[listeners.next] = changed
            return listeners.next
        }
        return Subscription { [weak self] in
            let ended = self?.listeners.withLock { $0.callbacks.removeValue(forKey: number) }
            withExtendedLifetime(ended) {}
        }
    }

    /// A stream of the present state and then each new one, until its reader stops. A slow reader misses states that were
    /// replaced, never the latest.
    public var changes: AsyncStream<NetworkState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            let number = listeners.withLock { listeners in
                listeners.next += 1
                listeners.streams[listeners.next] = stream
                stream.yield(state)
                return listeners.next
            }
            stream.onTermination = { [weak self] _ in
                let ended = self?.listeners.withLock { $0.streams.removeValue(forKey: number) }
                withExtendedLifetime(ended) {}
            }
        }
    }

    deinit { for stream in listeners.withLock({ $0.streams.values }) { stream.finish() } }
}

extension NetworkState {
    private static let (kinds, reaches) = (Kind.allCases, Reach.allCases)

    /// The state as a number, for an atomic variable. See ``init(packed:)``.
    var packed: UInt16 {
        let flags = Self.number(isExpensive) | Self.number(isConstrained) << 2
        let kind = kind.flatMap(Self.kinds.firstIndex).map { $0 + 1 } ?? 0
        return flags | UInt16(kind) << 4 | UInt16(Self.reaches.firstIndex(of: reach) ?? 0) << 8
    }

    /// Returns the state that a number stands for.
    init(packed: UInt16) {
        let kind = Int(packed >> 4 & 15)
        self.init(
            Self.reaches[Int(packed >> 8)], kind: kind == 0 ? nil : Self.kinds[kind - 1],
            isExpensive: Self.flag(packed), isConstrained: Self.flag(packed >> 2))
    }

    private static func number(_ flag: Bool?) -> UInt16 { flag.map { $0 ? 2 : 1 } ?? 0 }

    private static func flag(_ number: UInt16) -> Bool? { number & 3 == 0 ? nil : number & 3 == 2 }
}
