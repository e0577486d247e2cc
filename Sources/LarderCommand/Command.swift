package import Larder

/// A command: its name, its options and its work.
package struct Command: Sendable {
    /// An option of a command. Reading it and its line of help come from this one declaration.
    package struct Option: Sendable {
        var name: String
        /// The word that stands for its value in help; nil for an option without a value.
        var value: String?
        var help: String

        package init(_ name: String, value: String? = nil, help: String) {
            self.name = name
            self.value = value
            self.help = help
        }
    }

    let name: String
    /// Whether it is a program of its own, and not a command of `larder`.
    let isProgram: Bool
    let summary: String
    let operands: String
    let details: String
    let options: [Option]
    /// The help of each subcommand, by its name.
    let subcommandHelp: [String: String]
    /// Runs the command. Returns false if it ran and failed.
    let run: @Sendable (Arguments, Registry, Terminal) async throws -> Bool

    package init(
        name: String, isProgram: Bool = false, summary: String, operands: String = "", details: String = "",
        options: [Option] = [], subcommandHelp: [String: String] = [:],
        run: @escaping @Sendable (Arguments, Registry, Terminal) async throws -> Bool
    ) {
        self.name = name
        self.isProgram = isProgram
        self.summary = summary
        self.operands = operands
        self.details = details
        self.options = options
        self.subcommandHelp = subcommandHelp
        self.run = run
    }

    /// The line that shows how it is called.
    var usage: String {
        let call = isProgram ? name : "larder \(name)"
        let operands = operands.isEmpty ? "" : " " + operands
        return "usage: " + call + operands + (options.isEmpty ? "" : " [OPTION …]")
    }

    var help: String {
        [usage, summary, details, Self.list(of: options)].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// A line of help for each option.
    static func list(of options: [Option]) -> String {
        let titles = options.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
        let width = titles.map(\.count).max() ?? 0
        return zip(titles, options).map { "  \($0.padded(to: width))  \($1.help)" }.joined(separator: "\n")
    }

    /// The help of the subcommand that the first of these words names, or of the whole command.
    func help(for words: some Sequence<String>) -> String {
        words.first { !$0.hasPrefix("-") }.flatMap { subcommandHelp[$0] } ?? help
    }
}

/// A command that was called wrongly.
package struct UsageError: Error {
    let message: String

    package init(message: String) {
        self.message = message
    }
}

/// A failure of a command, in words.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The operands and options that a command was called with.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    /// Where `${NAME}` in policies is looked up.
    let environment: [String: String]
    /// The command's name and every word after it.
    let words: [String]
    /// Whether the command takes `--assume`.
    let canAssume: Bool
    private var flags: Set<String> = []
    private var values: [String: [String]] = [:]

    init(_ arguments: [String], for command: Command, environment: [String: String]) throws(UsageError) {
        self.environment = environment
        words = [command.name] + arguments
        canAssume = command.options.contains { $0.name == Command.Option.assume.name }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                return
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                operands.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = command.options.first(where: { "--\($0.name)" == parts[0] }) else {
                let meant = closestName(to: String(parts[0].drop { $0 == "-" }), among: command.options.map(\.name))
                throw UsageError(
                    message: "unknown option '\(parts[0])'" + (meant.map { " (did you mean '--\($0)'?)" } ?? ""))
            }
            if option.value == nil {
                if parts.count > 1 { throw UsageError(message: "--\(option.name) takes no value") }
                flags.insert(option.name)
            } else if parts.count > 1 {
                values[option.name, default: []].append(String(parts[1]))
            } else if let value = rest.popFirst(), !value.hasPrefix("--") {
                values[option.name, default: []].append(value)
            } else {
                throw UsageError(message: "--\(option.name) needs a value")
            }
        }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The option's value. Of several, the last one counts.
    package func value(of option: String) -> String? { values[option]?.last }

    package func values(of option: String) -> [String] { values[option] ?? [] }

    package func number(
        of option: String, in range: ClosedRange<Int>, default fallback: Int
    ) throws(UsageError) -> Int {
        guard let text = value(of: option) else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                message: "--\(option) takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension Arguments {
    func duration(of option: String) throws(UsageError) -> Duration? {
        guard let text = value(of: option) else { return nil }
        guard let duration = Duration(spelled: text) else {
            throw UsageError(message: "--\(option) takes a duration such as 500ms or 30s")
        }
        return duration
    }
}
