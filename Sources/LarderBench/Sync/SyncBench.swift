import Foundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem

/// Records that are changed offline, beside bare SQLite with the same indexes.
enum SyncBench {
    /// The number of records in one transaction.
    static let group = 10_000

    static func figures(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        func isWanted(_ name: String) -> Bool { harness.includes(name) || harness.only.hasPrefix(name) }
        let isQuick = harness.rounds < Harness().rounds
        if isWanted("sync write") { figures += try await writes(harness) }
        if isWanted("sync query") { figures += try await queries(harness, count: isQuick ? 10_000 : 100_000) }
        if isWanted("sync observe") { figures += try await observing() }
        if isWanted("sync pull") { figures += try await SyncTrips.pull(isQuick ? 10_000 : 100_000) }
        #if canImport(Glibc) || canImport(Musl)
            if isWanted("sync drain") { figures += try await SyncTrips.drain(isQuick ? 1_000 : 10_000) }
        #endif
        if isWanted("sync reopen") { figures += try await reopening(isQuick ? 100_000 : 1_000_000) }
        return figures
    }

    // MARK: Records

    /// A record of some 230 bytes.
    static func record(_ number: Int) -> JSONText {
        let text = """
            {"id":"\(id(number))","title":"Note \(number)","owner":"user-\(number % 100)",\
            "updatedAt":"2026-05-\(10 + number % 20)T10:\(10 + number / 20 % 50):\(10 + number / 1_000 % 50)Z",\
            "text":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod.","tags":["a","b"]}
            """
        return (try? JSONText(text.utf8)) ?? .null
    }

    /// The value of such a record.
    private struct TypedNote: Codable {
        var (id, title, owner, updatedAt, text, tags) = ("", "", "", "", "", ["a", "b"])

        init(_ number: Int) {
            (id, title, owner) = (SyncBench.id(number), "Note \(number)", "user-\(number % 100)")
            updatedAt = "2026-05-\(10 + number % 20)T10:\(10 + number / 20 % 50):\(10 + number / 1_000 % 50)Z"
            text = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod."
        }
    }

    static func id(_ number: Int) -> String {
        // As scattered as random ids, so that the index of ids is, too.
        String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 36) + "-\(number)"
    }

    private static let policy = """
        { "resource": "notes", "origin": { "use": "sample", "payload": "feed" },
          "records": { "id": "/id", "indexes": [["-updatedAt"], ["owner", "title"]] },
          "outbox": { "most": 10000000, "capacity": "100GB" } }
        """

    /// Opens the records in a folder.
    static func pantry(in folder: TemporaryFolder) async throws -> Pantry { try await pantry(at: folder.path) }

    static func pantry(at path: String) async throws -> Pantry {
        let folder = URL(filePath: path)
        let policies = folder.appending(path: "policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        try Data(policy.utf8).write(to: policies.appending(path: "notes.json"))
        return try await Pantry(
            policies: policies, registry: .standard.adding(.sync), cache: folder.appending(path: "cache"),
            data: folder.appending(path: "data"))
    }

    // MARK: Cases

    private static func writes(_ harness: Harness) async throws -> [Figure] {
        let (folder, queueFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let (bare, queue) = (try BareRecords(in: folder), try BareRecords(in: queueFolder, queuesChanges: true))
        let pantry = try await pantry(in: folder)
        let notes = pantry.records("notes")
        let next = Locked(0)
        @Sendable func number() -> Int {
            next.withLock { next in
                next += 1
                return next
            }
        }
        var figures = try await harness.compare(
            "sync write",
            [
                Case("bare, one durable transaction", slice: .milliseconds(100)) { try bare.put($0, inGroupsOf: 1) },
                Case("bare, the same and a queue", slice: .milliseconds(100)) { try queue.put($0, inGroupsOf: 1) },
                Case("create, one after the other", slice: .milliseconds(100)) { count in
                    for _ in 0..<count { _ = try await notes.create(record(number())) }
                },
            ])
        if figures.count == 3 {
            let own = figures[2]
            for (bare, name) in zip(figures, ["create beside bare", "create beside bare and queue"]) {
                figures += ratio(of: [bare, own], in: "sync write", called: name, goal: 1.5)
            }
        }
        await pantry.close()
        withExtendedLifetime((folder, queueFolder)) {}
        func each(_ name: String, _ work: () async throws -> Void) async throws -> Figure {
            var figure = try await Figure(group: "sync write", name: name, rounds: 5, goal: nil) { _ in try await work()
            }
            figure.median /= Double(group)
            figure.least = figure.least.map { $0 / Double(group) }
            return figure
        }
        // Each begins with an empty database, because a larger one is slower.
        let (own, alone, queued) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        let bareAlone = try BareRecords(in: alone)
        let bareGroup = try await each("bare, \(group) in one transaction") {
            try bareAlone.put(group, inGroupsOf: group)
        }
        let bareQueue = try BareRecords(in: queued, queuesChanges: true)
        let queueGroup = try await each("bare, \(group) and a queue of them") {
            try bareQueue.put(group, inGroupsOf: group)
        }
        let owner = try await Self.pantry(in: own)
        let created = owner.records("notes")
        var ownGroup = try await each("\(group) creates in one pantry.write") {
            try await owner.write { changes in
                for _ in 0..<group { _ = try changes.create(record(number()), in: created) }
            }
        }
        await owner.close()
        withExtendedLifetime((own, alone, queued)) {}
        ownGroup.ratio = ownGroup.median / bareGroup.median
        figures += [bareGroup, queueGroup, ownGroup]
        figures.append(
            try await each("JSONEncoder, which records of a type add") {
                for number in 0..<group { keep(try JSONEncoder().encode(TypedNote(number))) }
            })
        figures += ratio(
            of: [bareGroup, ownGroup], in: "sync write", called: "\(group) creates beside bare", goal: 1.5)
        figures += ratio(
            of: [queueGroup, ownGroup], in: "sync write", called: "\(group) creates beside bare and queue", goal: 1.5)
        return figures
    }

    /// Returns the ratio of the second figure to the first.
    private static func ratio(
        of figures: [Figure], in group: String, called name: String, goal: Double
    ) -> [Figure] {
        guard figures.count >= 2 else { return [] }
        return [
            Figure(group: group, name: name, median: figures[1].median / figures[0].median, unit: .times, goal: goal)
        ]
    }

    /// The query of which the fifty latest records are the answer.
    static let latest = Query().sorted(by: Field<String>("updatedAt"), .descending).limit(50)

    private static func queries(_ harness: Harness, count: Int) async throws -> [Figure] {
        let folder = try TemporaryFolder()
        let bare = try BareRecords(in: folder)
        try bare.put(count, inGroupsOf: group)
        let pantry = try await pantry(in: folder)
        let notes = pantry.records("notes")
        try await fill(notes, count)
        let name = "sync query of \(count)"
        var figures = try await harness.compare(
            name,
            [
                Case("bare, sorted by an index, 50 records") { count in
                    for _ in 0..<count { keep(try bare.latest(50)) }
                },
                Case("query, sorted by an index, 50 records", goal: 150_000) { count in
                    for _ in 0..<count { keep(try await notes.query(latest)) }
                },
            ])
        figures += ratio(of: figures, in: name, called: "query beside bare", goal: 3)
        await pantry.close()
        return figures
    }

    /// Takes over records in groups.
    static func fill(_ notes: Records<JSONText>, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: group) {
            if start > 0, start % (10 * group) == 0 { note("  \(start) of \(count) records are written …") }
            try await notes.importing((start..<min(count, start + group)).map { record($0 + 1) })
        }
    }

    /// Times changes from the end of the write to the page that shows it: of this process, and of another one.
    private static func observing() async throws -> [Figure] {
        let folder = try TemporaryFolder()
        let pantry = try await pantry(in: folder)
        let notes = pantry.records("notes")
        let clock = SystemWorld()
        let seen = Locked<[Int: Duration]>([:])
        let shown = AsyncStream<Int>.makeStream()
        let reader = clock.spawn {
            for await page in notes.observe() {
                seen.withLock { $0[page.records.count] = clock.uptime }
                shown.continuation.yield(page.records.count)
            }
        }
        var pages = shown.stream.makeAsyncIterator()
        _ = await pages.next()
        func wait(for count: Int) async {
            while let next = await pages.next() { if next >= count { return } }
        }
        func times(_ count: Int, _ write: (Int) async throws -> Void) async throws -> [Double] {
            var times: [Double] = []
            for _ in 0..<count {
                let before = try await notes.count()
                try await write(before + 1)
                let end = clock.uptime
                await wait(for: before + 1)
                let at = seen.withLock { $0[before + 1] } ?? clock.uptime
                times.append(Double(max(.zero, at - end).nanoseconds))
            }
            return times.sorted()
        }
        let own = try await times(50) { _ = try await notes.create(record($0)) }
        var figures = [
            Figure(
                group: "sync observe", name: "from the write to the page", median: own[own.count / 2], least: own[0],
                goal: 5_000_000)
        ]
        #if canImport(Glibc) || canImport(Musl)
            let other = try SyncWriter(folder.path)
            let others = try await times(10) { try other.write($0) }
            other.end()
            figures.append(
                Figure(
                    group: "sync observe", name: "from the write of another process",
                    median: others[others.count / 2], least: others[0], goal: 1_000_000_000))
        #endif
        reader.cancel()
        await pantry.close()
        return figures
    }

    private static func reopening(_ count: Int) async throws -> [Figure] {
        let folder = try TemporaryFolder()
        let first = try await pantry(in: folder)
        try await fill(first.records("notes"), count)
        await first.close()
        let clock = SystemWorld()
        let before = residentSize() ?? 0
        let second = try await pantry(in: folder)
        let notes = second.records("notes")
        let start = clock.uptime
        keep(try await notes.get(id(count / 2)))
        let opened = clock.uptime - start
        for number in stride(from: 1, to: count, by: max(1, count / 2_000)) { keep(try await notes.get(id(number))) }
        let size = max(0, (residentSize() ?? 0) - before)
        await second.close()
        let group = "sync reopen, \(count) records"
        return [
            Figure(group: group, name: "first get after opening", median: Double(opened.nanoseconds), goal: 50_000_000),
            Figure(group: group, name: "memory", median: Double(size), unit: .bytes, goal: 20_000_000),
        ]
    }
}
