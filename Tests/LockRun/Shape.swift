import Foundation
import Larder
import LarderSystem
@_spi(Bench) import LarderPlugins
import Synchronization

/// A value of some kind behind a lock. Threads copy it out and use it while other threads replace it.
struct Shape: Sendable {
    let name: String
    /// Copies the value under the lock and uses it after the lock was given back.
    let read: @Sendable () -> Void
    /// Replaces the value.
    let write: @Sendable (Int) -> Void

    static func all() throws -> [Shape] {
        [
            array, text, object, existential, closure, optional, tuple, exchanged, attempted, listeners, reference,
            blocking, try table(),
        ]
    }

    /// Reads `rounds` times on each of four threads, while four others write as often.
    func run(rounds: Int) {
        let over = DispatchGroup()
        for thread in 0..<8 {
            over.enter()
            Thread {
                for round in 0..<rounds {
                    if thread % 2 == 0 { read() } else { write(round) }
                }
                over.leave()
            }.start()
        }
        over.wait()
    }

    private static var array: Shape {
        let value = Locked([Witness(0)])
        return Shape(name: "array") {
            for witness in value.withLock({ $0 }) { witness.check() }
        } write: { round in
            value.withLock { $0 = [Witness(round), Witness(round)] }
        }
    }

    private static var text: Shape {
        let value = Locked(String(repeating: "a", count: 20))
        return Shape(name: "string") {
            let text = value.withLock { $0 }
            if text.utf8.count < 20 || text.utf8.first != text.utf8.last { LockRun.fail("a text changed: \(text)") }
        } write: { round in
            value.withLock { $0 = String(repeating: round % 2 == 0 ? "a" : "b", count: 20 + round % 30) }
        }
    }

    private static var object: Shape {
        let value = Locked(Witness(0))
        return Shape(name: "object") {
            value.withLock { $0 }.check()
        } write: { round in
            value.withLock { $0 = Witness(round) }
        }
    }

    private static var existential: Shape {
        let value = Locked<any Numbered>(Witness(0))
        return Shape(name: "existential") {
            value.withLock { $0 }.check()
        } write: { round in
            value.withLock { $0 = Witness(round) }
        }
    }

    private static var closure: Shape {
        // A bare closure would be wrapped once more by each access, because the lock is generic.
        struct Action {
            let run: @Sendable () -> Void
        }
        let first = Witness(0)
        let value = Locked(Action { first.check() })
        return Shape(name: "closure") {
            value.withLock { $0 }.run()
        } write: { round in
            let witness = Witness(round)
            value.withLock { $0 = Action { witness.check() } }
        }
    }

    private static var optional: Shape {
        let value = Locked<Witness?>(nil)
        return Shape(name: "optional") {
            value.withLock { $0 }?.check()
        } write: { round in
            value.withLock { $0 = round % 3 == 0 ? nil : Witness(round) }
        }
    }

    private static var tuple: Shape {
        let value = Locked<(Witness, [Witness], Int)>((Witness(0), [], 0))
        return Shape(name: "tuple") {
            let (one, many, _) = value.withLock { $0 }
            one.check()
            for witness in many { witness.check() }
        } write: { round in
            value.withLock { $0 = (Witness(round), [Witness(round)], round) }
        }
    }

    /// A value that is read and replaced in one section.
    private static var exchanged: Shape {
        let value = Locked<[Int: Witness]>([:])
        return Shape(name: "dictionary") {
            value.withLock { $0[1] }?.check()
        } write: { round in
            let old = value.withLock { $0.updateValue(Witness(round), forKey: 1) }
            old?.check()
        }
    }

    private static var attempted: Shape {
        let value = Locked(Witness(0))
        return Shape(name: "object, if the lock is free") {
            var found: Witness?
            value.tryLock { found = $0 }
            found?.check()
        } write: { round in
            value.tryLock { $0 = Witness(round) }
        }
    }

    /// Listeners that come and go while events are sent to them.
    private static var listeners: Shape {
        struct Listener {
            let number: Int
            let handle: @Sendable (Int) -> Void
            let finish: (@Sendable () -> Void)?
        }
        let value = Locked<[Listener]>([])
        return Shape(name: "listeners") {
            for listener in value.withLock({ $0 }) { listener.handle(1) }
        } write: { round in
            let witness = Witness(round)
            value.withLock { $0.append(Listener(number: round, handle: { _ in witness.check() }, finish: nil)) }
            value.withLock { all in
                guard let index = all.firstIndex(where: { $0.number == round }) else { return }
                all.remove(at: index)
            }
        }
    }

    private static var reference: Shape {
        let value = AtomicReference<Witness>()
        let turn = Locked(())
        return Shape(name: "atomic reference") {
            value.use { $0 }?.check()
        } write: { round in
            // Only one thread at a time may replace the object.
            let old = turn.withLock { _ in value.replace(with: Witness(round)) }
            old?.check()
        }
    }

    private static var blocking: Shape {
        let value = BlockingLock([Witness(0)])
        return Shape(name: "array behind a blocking lock") {
            for witness in value.withLock({ $0 }) { witness.check() }
        } write: { round in
            value.withLock { $0 = [Witness(round)] }
        }
    }

    private static func table() throws -> Shape {
        let eviction = try Registry.standard.defaultPart(of: .eviction).eviction()
        let table = ShardedTable<Int, Witness>(bytes: 8, eviction: eviction, shards: 1)
        return Shape(name: "table of a memory store") {
            table.find(1, hash: 1)?.check()
        } write: { round in
            _ = table.insert(Witness(round), as: round % 16, hash: round % 16, weight: 1)
        }
    }
}
