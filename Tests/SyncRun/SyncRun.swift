// It sees what only the tests of a module see, so an ordinary optimised build leaves it out.
#if DEBUG || TESTABLE
    import Foundation
    import Larder
    import LarderSystem

    /// A program that changes records offline. `Tests/sync-crashes` kills it, cuts the power under it and makes its disk fail,
    /// and checks what the next start finds.
    ///
    /// - `SyncRun FOLDER write NAME SEED` changes, sends and pulls records until it is killed.
    /// - `SyncRun FOLDER steps NAME SEED COUNT` makes so many changes, although some may fail.
    /// - `SyncRun FOLDER send URL COUNT` makes so many notes, and sends all that wait to a service.
    /// - `SyncRun FOLDER dump` prints all that the next start finds, after a change of its own.
    /// - `SyncRun FOLDER mend` makes a folder `begin` and then changes that make good what is damaged.
    /// - `SyncRun FOLDER flips COUNT SEED` flips bits in copies of the database, and prints what became of them.
    ///
    /// See ``NoteWriter`` and ``Dump`` for the lines that are printed.
    @main struct SyncRun {
        static func main() async {
            do { try await run() } catch {
                try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
                exit(1)
            }
        }

        private static func run() async throws {
            let arguments = CommandLine.arguments
            let numbers = arguments.dropFirst(3).compactMap { UInt64($0) }
            switch arguments.dropFirst(2).first {
            case "write" where arguments.count == 5 && numbers.count == 1:
                var writer = NoteWriter(Notes(in: arguments[1]), name: arguments[3], seed: numbers[0])
                while true { try writer.step() }
            case "steps" where arguments.count == 6 && numbers.count == 2:
                var writer = NoteWriter(Notes(in: arguments[1]), name: arguments[3], seed: numbers[0])
                for _ in 0..<numbers[1] { do { try writer.step() } catch { say("failed \(error)") } }
                try writer.end()
            case "send" where arguments.count == 5:
                try await NoteSender(in: arguments[1], of: arguments[3]).run(making: Int(arguments[4]) ?? 0)
            case "dump": try Dump(of: Notes(in: arguments[1])).print()
            case "mend":
                try Disk.makeFolder(arguments[1] + "/begin")
                try Notes(in: arguments[1]).probe()
            case "flips" where numbers.count == 2:
                var flips = BitFlips(in: arguments[1], seed: numbers[1])
                try flips.run(count: Int(numbers[0]))
            default:
                say(
                    "usage: SyncRun FOLDER write NAME SEED | steps NAME SEED COUNT | send URL COUNT | dump | mend | flips COUNT SEED"
                )
            }
        }

        /// Writes a line without a buffer, so that it is not lost if the process is killed next.
        static func say(_ line: String) {
            try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    /// Random numbers that can be repeated.
    struct Dice {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }

        mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
    }
#else
    @main struct SyncRun {
        static func main() { print("SyncRun needs testable modules: build it with Tests/optimised build") }
    }
#endif
