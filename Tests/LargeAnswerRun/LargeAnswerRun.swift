import Foundation
import Larder
import Synchronization

/// A program that loads a large answer. `Tests/large-answers` measures its memory, and kills it in the middle.
///
/// - `LargeAnswerRun FOLDER load BYTES` loads an answer of this size, reads every page of it, loads it again from the
///   store of another pantry, and reads it again after its file was deleted. It prints the source of each value, and the
///   growth of the private memory.
/// - `LargeAnswerRun FOLDER hang BYTES` stops before the last byte of the answer.
/// - `LargeAnswerRun FOLDER start` makes a pantry and loads nothing.
/// - `LargeAnswerRun FOLDER bomb URL NAME` loads `URL/small` and `URL/NAME` and prints the error of the second one, and by
///   how much the memory grew at its peak.
@main struct LargeAnswerRun {
    let folder: URL
    private let memory = PrivateMemory()

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else {
            say("usage: LargeAnswerRun FOLDER load|hang|start|bomb [BYTES|URL NAME]")
            return
        }
        let run = LargeAnswerRun(folder: URL(filePath: arguments[1], directoryHint: .isDirectory))
        let bytes = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
        switch arguments[2] {
        case "load": try await run.load(bytes)
        case "hang": _ = try await run.open(hanging: true).resource("films").load(["bytes": "\(bytes)"])
        case "bomb" where arguments.count > 4: try await run.refuse(arguments[4], from: arguments[3])
        default: _ = try await run.open()
        }
    }

    /// Writes a line without a buffer, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    private func open(hanging: Bool = false) async throws -> Pantry {
        let films = """
            { "resource": "films", "origin": "films", "strategy": "cache-first",
              "validators": ["checksum", { "use": "age", "fresh": "1h" }],
              "store": { "use": "tiered", "tiers": ["memory", { "use": "file", "capacity": "4GB" }] } }
            """
        var registry = Registry.standard
        try registry.register(
            .origin("films", "Makes films.") { (context: OriginContext) in
                Films(context: context, memory: memory, isHanging: hanging)
            })
        return try await Pantry(
            policies: ["films": films], registry: registry, cache: folder, ifCacheUnusable: .fail, environment: [:])
    }

    private func load(_ bytes: Int) async throws {
        _ = try await open().resource("films").load(["bytes": "1000000"])
        memory.begin()
        let first = try await open().resource("films").load(["bytes": "\(bytes)"])
        try report("first", first, bytes)
        let again = try await open().resource("films").load(["bytes": "\(bytes)"])
        try report("again", again, bytes)
        try FileManager.default.removeItem(at: folder)
        try report("deleted", again, bytes)
        Self.say("growth \(memory.growth)")
    }

    private func refuse(_ name: String, from url: String) async throws {
        let answers = """
            { "resource": "answers", "origin": { "use": "http", "url": "\(url)/{id}" }, "strategy": "network-only" }
            """
        let pantry = try await Pantry(
            policies: ["answers": answers], cache: folder, ifCacheUnusable: .fail, environment: [:])
        _ = try await pantry.resource("answers").load(["id": "small"])
        let before = memory.resident
        do {
            _ = try await pantry.resource("answers").load(["id": name])
        } catch let error as LoadError {
            Self.say(error.message)
        }
        Self.say("peak \(max(0, memory.peak - before))")
    }

    private func report(_ name: String, _ loaded: Loaded<Data>, _ bytes: Int) throws {
        let pages = stride(from: 0, to: loaded.value.count, by: 4_096)
        let isWhole = loaded.value.count == bytes && pages.allSatisfy { loaded.value[$0] == 7 }
        memory.measure()
        Self.say("\(name) \(loaded.source) \(loaded.isStored) \(isWhole)")
    }
}

/// An origin that collects a film of many equal bytes in a file.
struct Films: Loader {
    let context: OriginContext
    let memory: PrivateMemory
    let isHanging: Bool

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let bytes = call.request.parameters["bytes"].flatMap { Int($0) } ?? 0
        let payload = try await context.world.blocking { [self] in
            let sink = try context.payloadSink()
            let chunk = Data(repeating: 7, count: 1_000_000)
            while sink.size < bytes {
                let left = bytes - sink.size
                if isHanging, left <= chunk.count {
                    LargeAnswerRun.say("hangs")
                    _ = readLine()
                }
                try sink.write(chunk.prefix(left))
                memory.measure()
            }
            return try sink.finish()
        }
        return Loaded(Entry(payload))
    }
}

/// The memory of this process that no file backs, as the system counts it.
final class PrivateMemory: Sendable {
    private let file = "/proc/self/status"
    private let state = Mutex((first: 0, most: 0))

    var growth: Int { state.withLock { $0.most - $0.first } }

    func begin() {
        let now = bytes
        state.withLock { $0 = (now, now) }
    }

    func measure() {
        let now = bytes
        state.withLock { $0.most = max($0.most, now) }
    }

    /// The memory of this process now, with what files back.
    var resident: Int { bytes("VmRSS:") }

    /// The largest ``resident`` so far.
    var peak: Int { bytes("VmHWM:") }

    private var bytes: Int { bytes("RssAnon:") }

    private func bytes(_ name: String) -> Int {
        let text = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }
}
