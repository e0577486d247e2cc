import Larder
import LarderSystem

/// Tells when something of the records of a pantry may have changed: of any resource, also after reloads, and also by another
/// process.
final class PantryNews: Sendable {
    private struct State {
        /// The parts that are listened to.
        var attachments: [RecordsAttachment] = []
        var listening: [Subscription] = []
        var reloads: Task<Void, Never>?
    }

    /// An element at once and after each change. Changes that nobody has read yet are one. It ends with the pantry.
    let stream: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let state = Locked(State())

    /// - Parameter events: the events of the pantry.
    init(_ events: AsyncStream<PantryEvent>, in world: any World) {
        (stream, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        changed.yield(())
        let reloads = world.spawn { [changed] in
            for await event in events { if case .reloaded = event { changed.yield(()) } }
            changed.finish()
        }
        state.withLock { $0.reloads = reloads }
    }

    deinit { state.withLock { $0.reloads }?.cancel() }

    /// Listens to the present parts of the pantry in place of former ones.
    func listen(to attachments: [RecordsAttachment]) {
        let isNew = state.withLock { !$0.attachments.elementsEqual(attachments) { $0 === $1 } }
        if !isNew { return }
        var listening = attachments.map { $0.addNews { [changed] in changed.yield(()) } }
        if let watch = attachments.first?.database.watch() { listening.append(watch) }
        state.withLock { ($0.attachments, $0.listening) = (attachments, listening) }
    }
}
