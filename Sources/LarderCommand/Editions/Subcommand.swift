import Larder

/// A part of a command, such as `larder edition sign`: its operands, its options and its help come from this one
/// declaration.
struct Subcommand: Sendable {
    /// A call of a subcommand.
    struct Call: Sendable {
        let operands: [String]
        let arguments: Arguments
        let registry: Registry
        let terminal: Terminal
        var isJSON: Bool { arguments.has(Command.Option.json.name) }

        /// Writes the result: as JSON if the call asks for it, else as lines.
        func print(_ lines: [String], json: JSON) {
            if isJSON { return terminal.print(json.text()) }
            for line in lines { terminal.print(line) }
        }
    }

    let name: String
    /// The operands, as usage shows them. One in brackets may be left out. Options that a call must have come last.
    let operands: String
    let summary: String
    let options: [Command.Option]
    /// The operands and options of a call, as help shows them.
    let example: String
    /// Runs the subcommand. Returns false if it ran and failed.
    let run: @Sendable (Call) async throws -> Bool

    var usage: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// The numbers of operands that a call may have.
    fileprivate var operandCounts: ClosedRange<Int> {
        let words = operands.split(separator: " ").prefix { !$0.hasPrefix("--") }
        return words.count { !$0.hasPrefix("[") }...words.count
    }

    /// The help of the subcommand of a command.
    func help(of command: String) -> String {
        """
        usage: larder \(command) \(usage) [OPTION …]

        \(summary)

        \(Command.list(of: options + [.json]))

        For example: larder \(command) \(name) \(example)
        """
    }
}

extension Command {
    /// Creates a command that consists of subcommands.
    init(name: String, summary: String, details: String, subcommands: [Subcommand]) {
        let width = subcommands.map(\.usage.count).max() ?? 0
        let list = subcommands.map { "  \($0.usage.padded(to: width))  \($0.summary)" }.joined(separator: "\n")
        var options: [Option] = []
        for option in subcommands.flatMap(\.options) where !options.contains(where: { $0.name == option.name }) {
            // Of several texts, that of the first subcommand stands here. Its own help has the one of each.
            let owners = subcommands.filter { $0.options.contains { $0.name == option.name } }.map(\.name)
            let help = "\(owners.joined(separator: ", ")): \(option.help)"
            options.append(Option(option.name, value: option.value, help: help))
        }
        let owned = options
        self.init(
            name: name, summary: summary, operands: "SUBCOMMAND [OPERAND …]", details: "\(list)\n\n\(details)",
            options: owned + [.json],
            subcommandHelp: Dictionary(uniqueKeysWithValues: subcommands.map { ($0.name, $0.help(of: name)) }),
            run: { arguments, registry, terminal in
                let subcommand = try Self.subcommand(arguments.operands.first, of: name, among: subcommands)
                let operands = Array(arguments.operands.dropFirst())
                guard subcommand.operandCounts ~= operands.count else {
                    throw UsageError(message: "it is called '\(name) \(subcommand.usage)'")
                }
                for option in owned where !subcommand.options.contains(where: { $0.name == option.name }) {
                    guard arguments.has(option.name) || arguments.value(of: option.name) != nil else { continue }
                    throw UsageError(message: "--\(option.name) does not go with '\(name) \(subcommand.name)'")
                }
                return try await subcommand.run(
                    .init(operands: operands, arguments: arguments, registry: registry, terminal: terminal))
            })
    }

    private static func subcommand(
        _ word: String?, of command: String, among subcommands: [Subcommand]
    ) throws(UsageError) -> Subcommand {
        let names = subcommands.map(\.name)
        let list = names.joined(separator: ", ")
        guard let word else { throw UsageError(message: "\(command) takes one of \(list)") }
        if let subcommand = subcommands.first(where: { $0.name == word }) { return subcommand }
        let meant = closestName(to: word, among: names).map { " (did you mean '\($0)'?)" } ?? ""
        throw UsageError(message: "\(command) has no '\(word)'\(meant); it takes one of \(list)")
    }
}
