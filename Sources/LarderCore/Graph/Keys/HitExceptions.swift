import Synchronization

/// Counts the objects that may forbid or redirect a hit, so that a hit asks them all with one read: outdated copies,
/// failed clearings and variations.
final class HitExceptions: Sendable {
    private let count = Atomic(0)

    /// Whether hits need no further check. Takes no lock.
    @inline(__always)
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// Counts an object that begins to restrict hits, or one that stops. Does nothing if that has not changed.
    func change(from former: Bool, to present: Bool) {
        if former != present { count.add(present ? 1 : -1, ordering: .relaxed) }
    }
}
