public import LarderFoundation
public import Larder

/// The command line as a library.
///
/// An app with plugins of its own builds a `larder` that knows them:
///
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         await LarderCommand.main(registry: .mine)
///     }
/// }
/// ```
public enum LarderCommand {
    /// The version that `--version` prints.
    public static let version = "0.1.0"

    static let commands: [Command] = [
        .load, .refresh, .check, .explain, .test, .prove, .diff, .simulate, .report, .advise, .top, .dashboard, .store,
        .records, .sync, .outbox, .edition, .channel, .plugins, .new, .schema, .demo,
    ]

    /// Runs the command that the process was started with, and ends the process.
    ///
    /// The exit code is 0 if the command succeeded, and 1 if it failed. It is 2 if the command was called wrongly.
    public static func main(registry: Registry = .shipped) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await run(arguments, registry: registry, terminal: .standard))
    }

    /// Runs the command that the process consists of, and ends the process.
    package static func main(_ program: Command) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(
            await run(
                program, arguments: arguments, registry: .shipped, environment: ProcessInfo.processInfo.environment,
                terminal: .standard))
    }

    /// Runs a command and returns its exit code.
    ///
    /// - Parameters:
    ///   - arguments: the command and its arguments, without the program's name.
    ///   - registry: the plugins that policies can name.
    ///   - environment: the variables that policies can read.
    ///   - terminal: the output of the command.
    /// - Returns: 0 if the command succeeded, 1 if it failed, and 2 after a wrong call.
    public static func run(
        _ arguments: [String], registry: Registry = .shipped,
        environment: [String: String] = ProcessInfo.processInfo.environment, terminal: Terminal
    ) async -> Int32 {
        switch arguments.first {
        case nil:
            terminal.print(help)
            return 2
        case "--help", "-h", "help":
            guard let name = arguments.dropFirst().first(where: { $0 != "--json" }) else {
                terminal.print(arguments.contains("--json") ? helpAsJSON : help)
                return 0
            }
            guard let command = commands.first(where: { $0.name == name }) else {
                return refuse("unknown command '\(name)'", near: name, arguments: arguments, terminal: terminal)
            }
            let help = command.help(for: arguments.drop { $0 != name }.dropFirst())
            let json: JSON = ["command": .string(command.name), "help": .string(help)]
            terminal.print(arguments.contains("--json") ? json.text() : help)
            return 0
        case "--version":
            let json: JSON = ["version": .string(version)]
            terminal.print(arguments.contains("--json") ? json.text() : "larder \(version)")
            return 0
        case .some(let name):
            guard let command = commands.first(where: { $0.name == name }) else {
                return refuse("unknown command '\(name)'", near: name, arguments: arguments, terminal: terminal)
            }
            return await run(
                command, arguments: Array(arguments.dropFirst()), registry: registry, environment: environment,
                terminal: terminal)
        }
    }

    static func run(
        _ command: Command, arguments: [String], registry: Registry, environment: [String: String],
        terminal: Terminal
    ) async -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            terminal.print(command.help(for: arguments))
            return 0
        }
        let written = Terminal.Written()
        let terminal = terminal.noting(written)
        var options: Arguments?
        var problems: [Problem] = []
        var code: Int32 = 1
        do {
            let parsed = try Arguments(arguments, for: command, environment: environment)
            options = parsed
            code = try await command.run(parsed, try parsed.assuming(registry), terminal) ? 0 : 1
        } catch let error as UsageError {
            terminal.complain(error.message)
            terminal.complain(command.usage)
            code = 2
        } catch let error as PolicyError {
            problems = error.problems
            for problem in problems { terminal.note(problem.description) }
            options?.explainUnknown(problems, terminal)
        } catch {
            terminal.complain("\(error)")
        }
        if code != 0, !written.hasOutput {
            tellAsJSON(
                written.complaint ?? "the policies have errors", arguments: arguments, terminal: terminal,
                problems: problems)
        }
        return code
    }

    /// Tells that there is no such command.
    private static func refuse(
        _ message: String, near name: String, arguments: [String], terminal: Terminal
    ) -> Int32 {
        let names = commands.map(\.name)
        let meant = names.first { $0.hasPrefix(name) || name.hasPrefix($0) } ?? closestName(to: name, among: names)
        tellAsJSON(message, arguments: arguments, terminal: terminal)
        terminal.complain(message + (meant.map { " (did you mean '\($0)'?)" } ?? ""))
        terminal.complain("'larder --help' lists the commands")
        return 2
    }

    /// Writes an error to the output as JSON if the arguments ask for JSON.
    private static func tellAsJSON(
        _ message: String, arguments: [String], terminal: Terminal, problems: [Problem] = []
    ) {
        let words = arguments.prefix { $0 != "--" }
        let isJSON =
            words.contains("--json") || words.contains("--format=json")
            || zip(words, words.dropFirst()).contains { $0 == "--format" && $1 == "json" }
        guard isJSON else { return }
        let error = JSON.present([
            "error": "failed", "message": .string(message),
            "problems": problems.isEmpty ? nil : .list(problems.map(\.json)),
        ])
        terminal.print(error.text())
    }

    private static var helpAsJSON: String {
        let list = commands.map { command -> JSON in
            ["command": .string(command.name), "summary": .string(command.summary)]
        }
        return JSON.list(list).text()
    }

    private static var help: String {
        let width = commands.map(\.name.count).max() ?? 0
        let list = commands.map { "  \($0.name.padded(to: width))  \($0.summary)" }.joined(separator: "\n")
        return """
            larder \(version): caching and offline behaviour, configured by policy files

            usage: larder COMMAND [ARGUMENT …]

            \(list)

            'larder COMMAND --help' explains a command. With --json, a command writes its result or its error as JSON to
            the output; warnings and progress are written to the error output. Exit code: 0 done, 1 failed, 2 called wrongly.
            """
    }
}
