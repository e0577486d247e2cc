// It sees what only the tests of a module see, so an ordinary optimised build leaves it out.
#if DEBUG || TESTABLE
    @testable import LarderSync

    /// Changes notes of its own, and some that others change too.
    ///
    /// Prints `write GROUP TOKEN` before and `kept GROUP TOKEN` after each change, with the token `-` for a deletion. A change that
    /// fails is not kept.
    struct NoteWriter {
        private let notes: Notes
        private let name: String
        private let run: String
        private var dice: Dice
        private var number = 0

        /// The account whose notes all writers change.
        static let shared = "both"

        init(_ notes: Notes, name: String, seed: UInt64) {
            (self.notes, self.name, dice) = (notes, name, Dice(state: seed))
            run = String(seed, radix: 36)
        }

        mutating func step() throws {
            number += 1
            let token = "\(run).\(number)"
            switch dice.roll(12) {
            case 0: try notes.push(Notes.table(name), &dice)
            case 1: try notes.push(Notes.table(Self.shared), &dice)
            case 2: try notes.pull(name, block: dice.roll(5), token)
            case 3: try notes.write("\(Self.shared)-\(dice.roll(3))", token, in: Notes.table(Self.shared))
            case 4: try write(nil, token)
            default: try write(token, token)
            }
        }

        private mutating func write(_ value: String?, _ token: String) throws {
            let group = "\(name)-\(dice.roll(6))"
            SyncRun.say("write \(group) \(value ?? "-")")
            try notes.write(group, value, in: Notes.table(name))
            SyncRun.say("kept \(group) \(value ?? "-")")
        }

        /// Makes a last change, and prints `last` when it is kept. As long as writes fail, it tries again, at most twenty times.
        mutating func end() throws {
            for _ in 1...20 {
                number += 1
                let token = "\(run).\(number)"
                do {
                    try write(token, token)
                    SyncRun.say("last")
                    break
                } catch { SyncRun.say("failed \(error)") }
            }
            notes.database.close()
        }
    }
#endif
