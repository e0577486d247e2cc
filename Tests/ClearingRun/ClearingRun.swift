import Foundation
import Larder

/// A program that keeps copies of two accounts, changes its policies and logs one account out. `Tests/clearing` kills
/// it during the logout and checks what the next start finds.
///
/// - `ClearingRun FOLDER clear` fills the cache and clears the account `alice`.
/// - `ClearingRun FOLDER wait` does the same, but waits for a line of input before it clears.
/// - `ClearingRun FOLDER look` starts and prints the number of copies that are served to each account.
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

    /// Writes a line without a buffer, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    private func open() async throws -> Pantry {
        var registry = Registry.standard
        try registry.register(
            .origin("accounts") { call in
                let payload = Data("payload-of-\(call.request.key.scope ?? "nobody")".utf8)
                guard call.request.parameters["id"] == "3" else { return Loaded(Entry(payload)) }
                // The store adopts the file, so this entry has two files.
                let download = folder.appending(path: "download-\(UUID().uuidString)")
                try payload.write(to: download)
                return Loaded(Entry(try Payload(adopting: download)))
            })
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
