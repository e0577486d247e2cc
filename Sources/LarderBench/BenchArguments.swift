/// A mistake in the arguments.
struct Misuse: Error {
    var message: String
}

/// The arguments ask for help.
private struct HelpIsWanted: Error {}

/// The arguments of one command of the benchmark.
struct BenchArguments {
    /// The arguments that are no options.
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    /// - Parameters:
    ///   - flags: the options without a value.
    ///   - options: the options with a value.
    ///   - most: the largest number of arguments that are no options.
    init(
        _ arguments: [String], flags: Set<String> = ["--json"], options: Set<String> = [], operands most: Int = 0
    ) throws {
        if arguments.contains("--help") { throw HelpIsWanted() }
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if flags.contains(name) {
                values[name] = []
            } else if options.contains(name) {
                guard let value = rest.popFirst() else { throw Misuse(message: "\(name) needs a value") }
                values[name, default: []].append(value)
            } else if name.hasPrefix("-") || operands.count == most {
                throw Misuse(message: "unknown argument '\(name)'")
            } else {
                operands.append(name)
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// Returns all values of an option.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Returns the number that an option has; nil if it is not there.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = values[name]?.last else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Misuse(
                message: "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reports an error and returns the exit code: 0 if help was wanted, 2 for wrong arguments, 1 for anything else.
    static func exitCode(of error: any Error, in command: String, usage: String) -> Int32 {
        if error is HelpIsWanted {
            print(usage)
            return 0
        }
        guard let misuse = error as? Misuse else {
            note("larder-bench \(command): \(error)")
            return 1
        }
        note("larder-bench \(command): \(misuse.message)\n\n\(usage)")
        return 2
    }
}

/// Returns the lines of a table. The first columns begin at the left, the others end at the right.
func table(_ rows: [[String]], atLeft count: Int = 1) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        zip(row, widths).enumerated().map { column, cell in
            let space = String(repeating: " ", count: cell.1 - cell.0.count)
            return column < count ? cell.0 + space : space + cell.0
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}
