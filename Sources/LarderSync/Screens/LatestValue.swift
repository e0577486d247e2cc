import Larder
import LarderSystem
import Observation

/// The latest value of a stream, for a screen. It changes in one actor, and lives no longer than its owner keeps it.
final class LatestValue<Value: Sendable>: Observable, Sendable {
    private let actor: (any Actor)?
    private let latest: Locked<Value>
    private let changes = Listeners<Value>()
    private let following = Locked<Task<Void, Never>?>(nil)
    private let registrar = ObservationRegistrar()

    /// - Parameters:
    ///   - first: the value before the first one of the stream.
    ///   - actor: the actor in which the value changes.
    init(_ first: Value, on actor: (any Actor)?) { (self.actor, latest) = (actor, Locked(first)) }

    deinit { following.withLock { $0 }?.cancel() }

    /// The value now.
    var value: Value {
        registrar.access(self, keyPath: \.value)
        return latest.withLock { $0 }
    }

    /// A stream of the value now and of each new one, which ends with this object. A slow reader gets the latest one only.
    var values: AsyncStream<Value> { changes.stream(most: 1, after: { [latest.withLock { $0 }] }) }

    /// Begins to follow a stream.
    ///
    /// - Parameter value: returns the value of an element.
    func follow<Element: Sendable>(
        _ elements: AsyncStream<Element>, in world: any World, as value: @escaping @Sendable (Element) -> Value
    ) {
        let task = world.spawn { [weak self] in
            for await element in elements { await self?.show(value(element)) }
        }
        following.withLock { $0 = task }
    }

    private func show(_ value: Value) async { await show(value, on: actor) }

    private func show(_ value: Value, on actor: isolated (any Actor)?) {
        // A stream that ends at the same time is not told.
        if Task.isCancelled { return }
        changes.send { [latest] in
            latest.withLock { $0 = value }
            return value
        }
        registrar.withMutation(of: self, keyPath: \.value) {}
    }
}
