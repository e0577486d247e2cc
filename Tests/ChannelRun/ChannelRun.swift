import Foundation
import Larder
import LarderEditions

/// An app with a channel, to which `Tests/channel` ships editions.
///
/// `ChannelRun FOLDER` uses the policies, the cache and the data in three folders of these names, and carries out the lines
/// of its input. After each it says its ``State``, also after its start:
///
/// - `load N` loads all resources N times.
/// - `loop S` does so for S seconds, and asks for the channel five times a second.
/// - `wait S` does so, too, but leaves it to the pantry when to ask for the channel.
/// - `poll` asks for the channel.
/// - `dump` writes a dump to `FOLDER/dump.json`.
/// - `close` ends the pantry and the process. So does the end of the input, but the pantry is not closed then.
///
/// `ChannelRun FOLDER figures` measures swaps and starts instead.
@main struct ChannelRun {
    let pantry: Pantry
    let world = SystemWorld()
    private var state = State()

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { return say("usage: ChannelRun FOLDER [figures]") }
        let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
        if arguments.count > 2 { return try await Figures(folder: folder).measure() }
        // From here on, the library of `Tests/channel` may kill the process.
        try FileManager.default.createDirectory(at: folder.appending(path: "begin"), withIntermediateDirectories: true)
        var run = ChannelRun(pantry: try await open(folder))
        run.tellEvents()
        try await run.carryOut("start", folder)
        while let line = readLine() {
            try await run.carryOut(line, folder)
            if line == "close" { return }
        }
    }

    init(pantry: Pantry) { self.pantry = pantry }

    static func open(_ folder: URL) async throws -> Pantry {
        var registry = Registry.standard
        try registry.register(.channel)
        try registry.register(
            .origin("crashing", "Ends the process.", traits: { .with { $0.isLocal = true } }) { _ in exit(9) })
        return try await Pantry(
            policies: folder.appending(path: "policies"), registry: registry, cache: folder.appending(path: "cache"),
            data: folder.appending(path: "data"))
    }

    /// Writes a line without a buffer, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    private func tellEvents() {
        guard let events = pantry.editions?.events else { return }
        Task {
            for await event in events { try FileHandle.standardError.write(contentsOf: Data("\(event)\n".utf8)) }
        }
    }

    private mutating func carryOut(_ line: String, _ folder: URL) async throws {
        let words = line.split(separator: " ")
        let number = words.count > 1 ? Double(words[1]) ?? 0 : 0
        switch words.first {
        case "load": for _ in 0..<Int(number) { await load() }
        case "loop": try await loop(seconds: number, polls: true)
        case "wait": try await loop(seconds: number, polls: false)
        case "poll": await pantry.editions?.poll()
        case "dump":
            let text = await pantry.metrics.dump().json.text()
            try Data(text.utf8).write(to: folder.appending(path: "dump.json"))
        case "close": await pantry.close()
        default: break
        }
        state.running = pantry.editions?.running ?? 0
        state.isTrial = pantry.editions?.isTrial ?? false
        Self.say(String(decoding: try JSONEncoder().encode(state), as: UTF8.self))
        state.answers = state.answers.suffix(1)
    }

    private mutating func loop(seconds: Double, polls: Bool) async throws {
        let end = world.uptime + .seconds(seconds)
        var nextPoll = world.uptime
        while world.uptime < end {
            await load()
            if polls, world.uptime >= nextPoll {
                await pantry.editions?.poll()
                nextPoll = world.uptime + .milliseconds(200)
            }
            try await world.sleep(for: .milliseconds(polls ? 20 : 100))
        }
    }

    /// Loads each resource once. The service is down, so each answer is the number that the policy has as its fallback.
    private mutating func load() async {
        var pass: [String] = []
        for name in pantry.resources.sorted() {
            do {
                let value = try await pantry.resource(name).load().value
                pass.append(String(decoding: value, as: UTF8.self))
                state.answered += 1
            } catch {
                state.failed += 1
                state.error = "\(error)"
            }
        }
        // While policies are swapped, one change is seen, and none leads back.
        let changes = zip(pass, pass.dropFirst()).filter { $0 != $1 }.count
        if changes > 1 { state.mixed += 1 }
        for answer in pass where state.answers.last != answer { state.answers.append(answer) }
    }
}

/// The counts since the start, and the edition in effect.
private struct State: Codable {
    /// The number of the edition; 0 for the app's own policies.
    var running = 0
    var isTrial = false
    var answered = 0
    var failed = 0
    /// The passes over all resources whose answers were of several editions.
    var mixed = 0
    /// The answers since the last line, each one that differs from the one before.
    var answers: [String] = []
    var error: String?
}
