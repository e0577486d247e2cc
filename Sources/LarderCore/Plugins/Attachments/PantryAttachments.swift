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

extension Context {
    /// Returns the attachment of this type that a section of `_larder.json` has made for the whole pantry; nil if there
    /// is none. If several have this type, returns the first one in the order of registration.
    ///
    /// Ask for it at each use: a reload replaces it when the settings of its section change. In a section of the pantry
    /// itself the result is nil.
    public func attachment<Wanted>(_ type: Wanted.Type) -> Wanted? {
        attachments?.all.lazy.compactMap { $0.attachment(as: type) }.first
    }

    /// Returns the context of a section. Its state and places are its own.
    func ofSection(_ declaration: PartIdentity, _ source: PlaceSource) -> Context {
        var context = Context(
            resource: resource, world: world, registry: registry, meter: meter, reloadState: ReloadState(),
            data: data, declaration: declaration, source: source)
        (context.payloadFolder, context.shared) = (payloadFolder, shared)
        context.currentMeter = CurrentMeter(meter)
        (context.attachments, context.owner) = (attachments, owner)
        return context
    }

    /// Returns the context for the parts of a pantry with these attachments.
    func with(_ attachments: PantryAttachments, of owner: PantryReference) -> Context {
        var context = self
        (context.attachments, context.owner) = (attachments, owner)
        return context
    }
}
