import LarderSystem

/// A reference to the pantry that does not keep it alive. Sections find their own resource through it.
final class PantryReference: Sendable {
    private struct Reference {
        weak var pantry: (any AnyObject & Sendable)?
    }

    private let reference = Locked(Reference())
    private let isBackgroundWorkAllowed = Locked(true)
    private let isDueWorkAllowed = Locked(true)

    /// The pantry; nil before it is made and after it is released.
    var pantry: (any AnyObject & Sendable)? { reference.withLock { $0.pantry } }

    func refer(to pantry: any AnyObject & Sendable) { reference.withLock { $0.pantry = pantry } }

    /// Whether parts may start work of their own. It is set before the first part is made.
    var allowsBackgroundWork: Bool {
        get { isBackgroundWorkAllowed.withLock { $0 } }
        set { isBackgroundWorkAllowed.withLock { $0 = newValue } }
    }

    /// Whether due work may be asked for. It is set before the first part is made.
    var allowsDueWork: Bool {
        get { isDueWorkAllowed.withLock { $0 } }
        set { isDueWorkAllowed.withLock { $0 = newValue } }
    }
}
