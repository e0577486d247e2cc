import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation

@testable import LarderCommand

/// Runs the command line in this process and keeps its output.
struct Output {
    var code: Int32
    var out: String
    var err: String

    init(
        _ arguments: [String], registry: Registry = .shipped, environment: [String: String] = [:], input: String = ""
    ) async {
        await self.init(input: input) { terminal in
            await LarderCommand.run(arguments, registry: registry, environment: environment, terminal: terminal)
        }
    }

    /// Runs a program that consists of one command.
    init(_ program: Command, _ arguments: [String]) async {
        await self.init { terminal in
            await LarderCommand.run(
                program, arguments: arguments, registry: .standard, environment: [:], terminal: terminal)
        }
    }

    private init(input: String = "", _ run: (Terminal) async -> Int32) async {
        let out = Locked<[UInt8]>([])
        let err = Locked<[UInt8]>([])
        var terminal = Terminal(
            out: { bytes in out.withLock { $0 += bytes } }, err: { bytes in err.withLock { $0 += bytes } })
        // The clock of progress stands still, so that no test depends on the speed of the machine.
        terminal.uptime = { .zero }
        terminal.now = { Dumps.now }
        terminal.input = { Array(input.utf8) }
        code = await run(terminal)
        self.out = String(decoding: out.withLock { $0 }, as: UTF8.self)
        self.err = String(decoding: err.withLock { $0 }, as: UTF8.self)
    }
}

/// The project's own folder.
let projectFolder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

extension Folder {
    /// A folder with the shipped policies.
    static func withPolicies() throws -> Folder {
        let folder = try Folder()
        for name in ["feed", "images", "catalog"] {
            let text = try String(
                contentsOf: projectFolder.appending(path: "Policies/\(name).json"), encoding: .utf8)
            try folder.write(text, to: name + ".json")
        }
        return folder
    }
}
