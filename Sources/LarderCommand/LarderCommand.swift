#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
public import Larder

/// The command line as a library.
///
/// An app with plugins of its own gets a `larder` that knows them:
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
        .load, .check, .explain, .test, .simulate, .report, .conform, .plugins, .new, .schema, .demo,
    ]

    /// Runs the command that the process was started with, and ends the process: with 0 if it did what it should,
    /// 1 if it ran and failed, 2 if it was called wrongly.
    public static func main(registry: Registry = .standard) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await run(arguments, registry: registry, terminal: .standard))
    }

    /// Runs a command as ``main(registry:)`` does, writing to `terminal`. Policies read variables from `environment`.
    ///
    /// - Returns: the exit code.
    public static func run(
        _ arguments: [String], registry: Registry = .standard,
        environment: [String: String] = ProcessInfo.processInfo.environment, terminal: Terminal
    ) async -> Int32 {
        switch arguments.first {
        case nil, "--help", "-h", "help":
            if let name = arguments.dropFirst().first, let command = commands.first(where: { $0.name == name }) {
                terminal.print(command.help)
            } else {
                terminal.print(help)
            }
            return arguments.isEmpty ? 2 : 0
        case "--version":
            terminal.print("larder \(version)")
            return 0
        case .some(let name):
            guard let command = commands.first(where: { $0.name == name }) else {
                let meant = commands.map(\.name).first { $0.hasPrefix(name) || name.hasPrefix($0) }
                terminal.complain("unknown command '\(name)'\(meant.map { " (did you mean '\($0)'?)" } ?? "")")
                terminal.complain("'larder --help' lists the commands")
                return 2
            }
            return await run(command, Array(arguments.dropFirst()), registry, environment, terminal)
        }
    }

    private static func run(
        _ command: Command, _ arguments: [String], _ registry: Registry, _ environment: [String: String],
        _ terminal: Terminal
    ) async -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            terminal.print(command.help)
            return 0
        }
        var options: Arguments?
        do {
            let parsed = try Arguments(arguments, for: command, environment: environment)
            options = parsed
            return try await command.run(parsed, try parsed.assuming(registry), terminal) ? 0 : 1
        } catch let error as UsageError {
            terminal.complain(error.message)
            terminal.complain("usage: larder \(command.usage)")
            return 2
        } catch let error as PolicyError {
            for problem in error.problems { terminal.note(problem.description) }
            options?.explainUnknown(error.problems, terminal)
            return 1
        } catch {
            terminal.complain("\(error)")
            return 1
        }
    }

    private static var help: String {
        let width = commands.map(\.name.count).max() ?? 0
        let list = commands.map { "  \($0.name.padded(to: width))  \($0.summary)" }.joined(separator: "\n")
        return """
            larder \(version): caching and offline behaviour, decided by policy files

            usage: larder COMMAND [ARGUMENT …]

            \(list)

            'larder COMMAND --help' explains one. Exit code: 0 done, 1 failed, 2 called wrongly.
            """
    }
}

extension String {
    /// The text followed by as many spaces as it is shorter than `width`.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// The text after as many spaces as it is shorter than `width`.
    func aligned(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
