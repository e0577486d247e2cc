import LarderSystem

/// The attachments of the pantry's own sections, as plugins find them.
///
/// Each change of `_larder.json` makes a new object. The former one then refers to it, so that a part that was made
/// before finds the present attachments.
final class PantryAttachments: Sendable {
    private struct State {
        var held: [HeldAttachment]
        var successor: PantryAttachments?
    }

    private let state: Locked<State>

    init(_ held: [HeldAttachment] = []) {
        state = Locked(State(held: held))
    }

    /// The present attachments, in the order in which their sections are registered.
    var all: [HeldAttachment] {
        let (held, successor) = state.withLock { ($0.held, $0.successor) }
        return successor?.all ?? held
    }

    /// Gives way to the attachments that are in effect from now on.
    func giveWay(to successor: PantryAttachments) {
        let former = state.withLock { state in
            defer { state = State(held: [], successor: successor) }
            return state.held
        }
        // Attachments that are not among the new ones are closed here, outside the lock.
        withExtendedLifetime(former) {}
    }
}
