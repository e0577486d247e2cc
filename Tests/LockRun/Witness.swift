import Synchronization

/// An object that tells whether it is alive, also just after its end.
final class Witness: Sendable, Numbered {
    private static let alive = 0x600D
    let number: Int
    private let state = Atomic(Witness.alive)

    init(_ number: Int) { self.number = number }

    deinit { state.store(0xDEAD, ordering: .relaxed) }

    /// Ends the program if the object is not alive.
    func check() {
        let found = state.load(ordering: .relaxed)
        if found != Self.alive { LockRun.fail("an object was used after its end: \(found)") }
    }
}

/// The requirements of an existential among the shapes.
protocol Numbered: Sendable {
    var number: Int { get }
    func check()
}
