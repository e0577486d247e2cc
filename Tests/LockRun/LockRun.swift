import Foundation

/// A program that shows in optimised builds that what is read under a lock stays alive. `Tests/locks` runs it.
///
/// - `LockRun shapes ROUNDS` copies values of all shapes out of all locks while other threads replace the values. An
///   object that is used after its end ends the program with an error or crashes it.
/// - `LockRun churn SECONDS` loads from full memory stores while listeners and streams come and go, and policies and
///   capacities change. A payload that no origin sent ends the program with an error.
@main struct LockRun {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
            return fail("usage: LockRun shapes ROUNDS | churn SECONDS", code: 2)
        }
        switch arguments[1] {
        case "shapes":
            for shape in try Shape.all() {
                // Before the run, so that a crash tells its shape.
                try FileHandle.standardOutput.write(contentsOf: Data((shape.name + "\n").utf8))
                shape.run(rounds: count)
            }
        case "churn": try await Churn(seconds: count).run()
        default: fail("unknown command '\(arguments[1])'; expected 'shapes' or 'churn'", code: 2)
        }
    }

    /// Prints the reason and ends the program.
    static func fail(_ reason: String, code: Int32 = 1) {
        FileHandle.standardError.write(Data("LockRun: \(reason)\n".utf8))
        exit(code)
    }
}
