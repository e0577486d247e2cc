import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

@testable import LarderSync

struct Note: Codable, Hashable, Sendable {
    var id: String?
    var title: String
    var tags: [String]?
    var collection: String?
    var rank: Int?
    var at: Date?
}

/// An app with records, in a folder that outlives its processes.
final class RecordsApp: Sendable {
    let folder: TemporaryFolder
    let world: any World
    /// The account that is signed in.
    let account = Locked<String?>(nil)
    /// Answers the calls of the service; without one, each call fails.
    let service = Locked<(@Sendable (Request) async throws -> String)?>(nil)
    /// Answers the changes that the service is sent; without one, each fails.
    let changes = Locked<(@Sendable (_ method: String, Request) async throws -> String)?>(nil)

    /// More plugins that policies may name.
    let plugins = Locked<[Plugin]>([])

    static let notes = #"{ "resource": "notes", "origin": "service", "records": { "id": "/id" } }"#

    init(in world: any World = SimulatedWorld(seed: 1)) throws {
        folder = try TemporaryFolder()
        self.world = world
    }

    /// Runs a test with an app whose policy of notes this is.
    static func run(
        _ policy: String = notes,
        _ test: @escaping @Sendable (RecordsApp, Pantry, Records<Note>) async throws -> Void
    ) throws {
        try SimulatedWorld(seed: 1).run(leaving: .anything) { world in
            let app = try RecordsApp(in: world)
            let pantry = try await app.pantry(["notes": policy])
            try await test(app, pantry, pantry.records("notes", of: Note.self))
            await pantry.close()
        }
    }

    /// Starts a process.
    ///
    /// - Parameter policies: the policies by their resources.
    func pantry(_ policies: [String: String] = ["notes": notes]) async throws -> Pantry {
        let files = folder.url.appending(path: "policies")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for (name, text) in policies { try Data(text.utf8).write(to: files.appending(path: "\(name).json")) }
        return try await Pantry(
            policies: files, registry: registry, cache: folder.url.appending(path: "cache"),
            data: folder.url.appending(path: "data"), environment: [:], world: world)
    }

    private var registry: Registry {
        get throws {
            try Registry.standard.adding(.sync).adding(
                [
                    Plugin.origin(
                        "service", "A service of the test.",
                        Setting("at", .text, default: "here", help: "Where it is").identifiesData(),
                        traits: { _ in .with { $0.acceptsSends = true } }
                    ) { [service, changes] _, _ in TestService(answer: service, changes: changes) },
                    Plugin.origin(
                        "signed", "A service of the test, for accounts.",
                        traits: { [account] in
                            .with {
                                $0.account = { account.withLock { $0 } }
                                $0.acceptsSends = true
                            }
                        }
                    ) { [service, changes] _ in TestService(answer: service, changes: changes) },
                ] + plugins.withLock { $0 })
        }
    }

    /// Changes a policy, and puts it in effect.
    func change(_ name: String, _ text: String, of pantry: Pantry) async throws {
        try Data(text.utf8).write(to: folder.url.appending(path: "policies/\(name).json"))
        try await pantry.reload()
    }
}

private struct TestService: Loader {
    let answer: Locked<(@Sendable (Request) async throws -> String)?>
    let changes: Locked<(@Sendable (_ method: String, Request) async throws -> String)?>

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let method = call.method {
            guard let change = changes.withLock({ $0 }) else { throw LoadError(.failed, "there is no service") }
            return Loaded(Entry(Data(try await change(method, call.request).utf8)), from: .origin)
        }
        guard let answer = answer.withLock({ $0 }) else { throw LoadError(.failed, "there is no service") }
        return Loaded(Entry(Data(try await answer(call.request).utf8)), from: .origin)
    }
}

extension Records {
    /// Merges a full pull of these records.
    func pull(_ texts: [String], deleted: [String] = []) async throws {
        let table = try table()
        let attachment = try attachment()
        let idPath = attachment.planner.rules.idPath
        let records = try texts.map { text in
            let record = try JSONText(text.utf8)
            let id = record[idPath] ?? .null
            return PulledRecord(id: id.name ?? "", idText: id, record: record)
        }
        try await attachment.writing { database in
            try database.changing(.power) { transaction in
                let decisions = try RecordDecisions(transaction, table, attachment.planner)
                _ = try decisions.beginPull(isFull: true, edition: 1)
                try decisions.merge(PulledPage(records: records, deleted: deleted))
            }
        }
    }

    /// Returns the record and its writes, as the database has them.
    func row(_ id: String) async throws -> RecordRow? {
        let table = try table()
        return try await attachment().reading { try $0.row(id, of: table) }
    }

    func books() async throws -> Books {
        let table = try table()
        return try await attachment().reading { try $0.facts(of: table).books }
    }
}
