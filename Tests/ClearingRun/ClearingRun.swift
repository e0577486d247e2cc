import Foundation
import Larder

/// A program that keeps copies of two accounts, changes its policies and logs one account out: `Tests/clearing` kills it
/// in the middle of that and looks at what the next start finds.
///
/// `ClearingRun FOLDER clear` fills the cache and clears alice, `wait` does so when it is given a line, and `look` starts and
/// says whose copies are served.
@main struct ClearingRun {
    static let accounts = ["alice", "bob"]
    static let resources = ["catalog", "feed", "images"]

    let folder: URL

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            say("usage: ClearingRun FOLDER clear|wait|look")
            return
        }
        let run = ClearingRun(folder: URL(filePath: arguments[1], directoryHint: .isDirectory))
        try await arguments[2] == "look" ? run.look() : run.clear(waiting: arguments[2] == "wait")
    }

    /// Writes a line that is there even if the process is killed right after it.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    private func open() async throws -> Pantry {
        var registry = Registry.standard
        try registry.register(
            .origin("accounts") { call in Data("payload-of-\(call.request.key.scope ?? "nobody")".utf8) })
        return try await Pantry(
            policies: folder.appending(path: "policies"), registry: registry, cache: folder.appending(path: "cache"),
            ifCacheUnusable: .fail, environment: [:])
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
        // One policy goes, another one keeps in memory from now on.
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
        try await pantry.clear(scope: "alice")
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
