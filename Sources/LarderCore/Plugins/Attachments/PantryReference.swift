import LarderBase

/// A reference to the pantry that does not keep it alive. Sections find their own resource through it.
final class PantryReference: Sendable {
    private struct Reference {
        weak var pantry: (any AnyObject & Sendable)?
    }

    private let reference = Locked(Reference())

    /// The pantry; nil before it is made and after it is released.
    var pantry: (any AnyObject & Sendable)? { reference.withLock { $0.pantry } }

    func refer(to pantry: any AnyObject & Sendable) { reference.withLock { $0.pantry = pantry } }
}
