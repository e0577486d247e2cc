import Foundation
import Larder

/// A program that keeps copies of two accounts, changes its policies and logs one account out. `Tests/clearing` kills
/// it during the logout and checks what the next start finds.
///
/// - `ClearingRun FOLDER clear` fills the cache and clears the account `alice`.
/// - `ClearingRun FOLDER wait` does the same, but waits for a line of input before it clears.
/// - `ClearingRun FOLDER look` starts and prints the number of copies that are served to each account.
/// - `ClearingRun FOLDER load|refresh|prefetch|keep` asks for three copies for `alice` in one of these ways, says `asked`
///   when the origin is being called, and lets it answer after a line of input.
/// - `ClearingRun FOLDER logout` waits for a line of input and clears the account `alice`.
@main struct ClearingRun {
    static let accounts = ["alice", "bob"]
    static let resources = ["catalog", "feed", "images"]

    let folder: URL

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            say("usage: ClearingRun FOLDER clear|wait|look|load|refresh|prefetch|keep|logout")
            return
        }
        let run = ClearingRun(folder: URL(filePath: arguments[1], directoryHint: .isDirectory))
        switch arguments[2] {
        case "look": try await run.look()
        case "logout": try await run.logOut()
        case "load", "refresh", "prefetch", "keep": try await run.ask(arguments[2])
        default: try await run.clear(waiting: arguments[2] == "wait")
        }
    }

    /// Writes a line without a buffer, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    /// - Parameter begun: called when the origin is asked, before it answers.
    private func open(_ begun: @escaping @Sendable () async -> Void = {}) async throws -> Pantry {
        var registry = Registry.standard
        try registry.register(
            .origin("accounts") { call in
                await begun()
                let payload = Data("payload-of-\(call.request.key.scope ?? "nobody")".utf8)
                guard call.request.parameters["id"] == "3" else { return Loaded(Entry(payload)) }
                // The store adopts the file, so this entry has two files.
                let download = folder.appending(path: "download-\(UUID().uuidString)")
                try payload.write(to: download)
                return Loaded(Entry(try Payload(adopting: download)))
            })
        return try await Pantry(
            policies: folder.appending(path: "policies"), registry: registry, cache: folder.appending(path: "cache"),
            data: folder.appending(path: "data"), ifCacheUnusable: .fail, environment: [:])
    }

    private func clear(waiting: Bool) async throws {
        let pantry = try await open()
        for name in Self.resources {
            for account in Self.accounts {
                for id in 1...3 {
                    _ = try await pantry.resource(name).load(["id": "\(id)"], scope: account)
                }
            }
        }
        // One policy is deleted, and the store of another one becomes `memory`.
        let policies = folder.appending(path: "policies")
        try FileManager.default.removeItem(at: policies.appending(path: "images.json"))
        let catalog = policies.appending(path: "catalog.json")
        let text = try String(contentsOf: catalog, encoding: .utf8)
        try Data(text.replacing("\"file\"", with: "\"memory\"").utf8).write(to: catalog)
        try await pantry.reload()
        // From here on the process may be killed.
        try FileManager.default.createDirectory(at: folder.appending(path: "begin"), withIntermediateDirectories: false)
        Self.say("begin")
        if waiting { _ = readLine() }
        try await pantry.clear(.scope("alice"))
        Self.say("cleared")
    }

    private func ask(_ way: String) async throws {
        let (asked, gate) = (Asked(), Gate())
        let pantry = try await open {
            asked.add()
            await gate.wait()
        }
        let feed = pantry.resource("feed")
        let ids = (1...3).map { "\($0)" }
        async let answers: Void = {
            switch way {
            case "prefetch": _ = await feed.prefetch(ids.map { ["id": $0] }, scope: "alice").finished()
            case "keep": _ = try await feed.keep(ids.map { ["id": $0] }, scope: "alice").finished()
            default:
                let mode = way == "load" ? Request.Mode.normal : .refresh
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for id in ids {
                        group.addTask { _ = try await feed.load(["id": id], scope: "alice", mode: mode) }
                    }
                    try await group.waitForAll()
                }
            }
        }()
        await asked.wait(for: ids.count)
        Self.say("asked")
        _ = readLine()
        await gate.open()
        try await answers
        Self.say("answered")
    }

    private func logOut() async throws {
        let pantry = try await open()
        Self.say("ready")
        _ = readLine()
        try await pantry.clear(.scope("alice"))
        Self.say("cleared")
    }

    private func look() async throws {
        let pantry = try await open()
        for name in pantry.resources {
            for account in Self.accounts {
                var served = 0
                for id in 1...3 {
                    let copy = try? await pantry.resource(name).load(
                        ["id": "\(id)"], scope: account, mode: .cachedOnly)
                    if copy?.value == Data("payload-of-\(account)".utf8) { served += 1 }
                }
                Self.say("\(name) \(account) \(served)")
            }
        }
    }
}

/// Counts the calls of the origin.
final class Asked: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)

    func add() { stream.continuation.yield() }

    func wait(for count: Int) async {
        var left = count
        for await _ in stream.stream {
            left -= 1
            if left == 0 { return }
        }
    }
}

/// Lets those who wait go on when it is opened.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
