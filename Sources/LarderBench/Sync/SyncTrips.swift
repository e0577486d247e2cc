import Foundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem

/// Records that come from a service and go to it. The pages are made in this process, so no time is that of a network. What is
/// sent goes over the loopback interface.
enum SyncTrips {
    /// The number of records on a page, and of changes in a batch.
    fileprivate static let (page, batch) = (200, 400)

    private static let pulled = """
        { "resource": "notes", "origin": "notes",
          "records": { "id": "/id", "indexes": [["-updatedAt"], ["owner", "title"]],
            "pull": { "use": "since", "items": "/notes", "next": "/next", "serverTime": "/now", "overlap": "0s" } } }
        """

    fileprivate static func pushed(to url: String) -> String {
        """
        { "resource": "notes", "origin": { "use": "http", "url": "\(url)/notes" },
          "records": { "id": "/id",
            "push": { "use": "batch", "most": \(batch), "body": { "operations": "{operations}" },
              "operation": { "id": "{id}", "key": "{key}", "set": "{changes}" },
              "results": "/results", "status": "/code" } },
          "outbox": { "most": 1000000, "capacity": "1GB", "gather": "1h" } }
        """
    }

    /// Opens the records of a service with some records.
    fileprivate static func pantry(_ policy: String, count: Int, in folder: URL) async throws -> Pantry {
        let policies = folder.appending(path: "policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        try Data(policy.utf8).write(to: policies.appending(path: "notes.json"))
        let origin = Plugin.origin("notes", "A service of notes.") { _ in Service(count: count, page: page) }
        return try await Pantry(
            policies: policies, registry: try .standard.adding(.sync).adding([origin]),
            cache: folder.appending(path: "cache"), data: folder.appending(path: "data"))
    }

    /// Times a pull of everything, beside bare SQLite with the same indexes and transactions of the same size.
    static func pull(_ count: Int) async throws -> [Figure] {
        let (folder, clock) = (try TemporaryFolder(), SystemWorld())
        let bare = try BareRecords(in: folder, survivesPowerCuts: false)
        let begin = clock.uptime
        try bare.put(count, inGroupsOf: page)
        let bareTime = Double((clock.uptime - begin).nanoseconds) / Double(count)
        let (before, start) = (residentSize() ?? 0, clock.uptime)
        let pantry = try await pantry(pulled, count: count, in: folder.url)
        let notes = pantry.records("notes")
        try await notes.sync()
        let time = Double((clock.uptime - start).nanoseconds) / Double(count)
        let size = max(0, (residentSize() ?? 0) - before)
        guard try await notes.count() == count else { throw LoadError(.failed, "not everything was pulled") }
        await pantry.close()
        let group = "sync pull of \(count)"
        return [
            Figure(group: group, name: "bare, \(page) in one transaction", median: bareTime),
            Figure(group: group, name: "a record, in pages of \(page)", median: time, goal: 50_000),
            Figure(group: group, name: "pull beside bare", median: time / bareTime, unit: .times, goal: 1.3),
            Figure(group: group, name: "memory", median: Double(size), unit: .bytes, goal: 16_000_000),
        ]
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SyncTrips {
        /// Times the sending of many changes that waited, to a server of another process.
        static func drain(_ count: Int) async throws -> [Figure] {
            let (folder, clock, server) = (try TemporaryFolder(), SystemWorld(), try HTTPBench.ServerProcess())
            let pantry = try await pantry(pushed(to: server.url), count: 0, in: folder.url)
            let notes = pantry.records("notes")
            try await pantry.write { changes in
                for number in 1...count { _ = try changes.create(SyncBench.record(number), in: notes) }
            }
            let start = clock.uptime
            try await notes.sync()
            let time = Double((clock.uptime - start).nanoseconds)
            let isSent = try await notes.query().records.allSatisfy { $0.state == .synced }
            if !isSent { throw LoadError(.failed, "not everything was sent") }
            await pantry.close()
            withExtendedLifetime(server) {}
            return [
                Figure(
                    group: "sync drain", name: "\(count) changes in batches of \(batch)", median: time,
                    goal: 2_000_000_000)
            ]
        }
    }
#endif

/// A service that gives its records page by page.
private struct Service: Loader {
    let count: Int
    let page: Int

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let start = call.request.parameters["cursor"].flatMap { Int($0) } ?? 0
        let end = min(count, start + page)
        let notes = (start..<end).map { String(decoding: SyncBench.record($0 + 1).bytes, as: UTF8.self) }.joined(
            separator: ",")
        let next = end < count ? "\"\(end)\"" : "null"
        return Loaded(Entry(Data("{\"notes\":[\(notes)],\"next\":\(next),\"now\":1}".utf8)), from: .origin)
    }
}
