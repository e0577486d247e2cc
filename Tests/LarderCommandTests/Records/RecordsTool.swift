import LarderFoundation
import Larder
import LarderSync
import LarderSystem

@testable import LarderCommand

/// The tool beside an app with records, and the app's service.
final class RecordsTool: Sendable {
    let folder: Folder
    let service: CollectionsService
    let server: LoopbackServer

    static let records = """
        "id": "/id", "ids": "server", "version": "/revision", "updatedAt": "/updatedAt",
        """
    static let pull = """
        "pull": { "use": "since", "items": "/collections", "next": "/nextCursor", "serverTime": "/serverTime",
                  "deleted": "/deletedIds", "limit": 20 },
        """

    /// - Parameters:
    ///   - records: the number of records that the service has.
    ///   - section: the section `records` of the policy, without `push`.
    ///   - others: the rest of the policy.
    init(records: Int = 3, section: String = records + pull, others: String = "") throws {
        let service = CollectionsService(records: records)
        (folder, self.service) = (try Folder(), service)
        server = try LoopbackServer { service.answer($0) }
        try write(section, others)
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only" }"#,
            to: "feed.json")
    }

    func write(_ section: String, _ others: String = "") throws {
        try folder.write(
            """
            { "resource": "collections",
              "origin": { "use": "http", "url": "\(server.url)/collections{/id}{?since,token,cursor,limit}" },
              "records": { \(section) "push": { "use": "rest", "parallel": 1 } }\(others) }
            """, to: "collections.json")
    }

    var data: String { folder.path + "/data" }

    /// Runs a command.
    func run(_ words: String...) async -> Output { await run(words) }

    func run(_ words: [String]) async -> Output {
        let own =
            [["sync", "explain"], ["sync", "probe"]].contains { words.starts(with: $0) } ? [] : ["--data", data]
        let cache =
            [["sync", "run"], ["outbox", "retry"]].contains { words.starts(with: $0) }
            ? ["--cache", folder.path + "/cache"] : []
        return await Output(words + ["--policies", folder.path] + own + cache, registry: .shipped)
    }

    /// Runs the app, which neither sends nor fetches by itself.
    func app(_ body: (Pantry) async throws -> Void) async throws {
        let pantry = try await Pantry(
            reader: PolicyReader(registry: .shipped, folder: folder.path, environment: [:]).withoutProcess,
            cache: folder.url.appending(path: "cache"), data: URL(filePath: data), world: SystemWorld(),
            allowsBackgroundWork: false)
        try await body(pantry)
        await pantry.close()
    }

    /// Lets the app make a record.
    func make(_ name: String) async throws {
        try await app { pantry in
            try await pantry.records("collections").create(JSONText(["name": .string(name)]))
        }
    }
}
