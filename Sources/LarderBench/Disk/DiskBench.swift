import Foundation
import LarderSystem
import Larder
import LarderSimulation

/// The stores on a disk beside bare SQLite and files.
enum DiskBench {
    private static let kilobyte = 1_000
    /// The time that a case runs in a round. It is long enough for groups to form and for the log to be copied.
    private static let slice = Duration.milliseconds(150)

    static func figures(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        func isWanted(_ group: String) -> Bool { harness.includes(group) || harness.only.hasPrefix(group) }
        for size in [kilobyte, 100 * kilobyte, 1_000 * kilobyte] {
            if isWanted("disk put \(title(size))") { figures += try await writes(harness, size) }
            if isWanted("disk get \(title(size))") { figures += try await reads(harness, size) }
        }
        let isQuick = harness.rounds < Harness().rounds
        if isWanted("disk reopen") {
            for count in isQuick ? [10_000] : [10_000, 1_000_000] { figures += try await reopening(count) }
        }
        return figures
    }

    private static func settings(_ durability: String, capacity: String = "100GB") -> String {
        #"{ "use": "sqlite", "durability": "\#(durability)", "capacity": "\#(capacity)" }"#
    }

    private static func title(_ size: Int) -> String {
        size < 1_000_000 ? "\(size / 1_000) KB" : "\(size / 1_000_000) MB"
    }

    /// Returns a number as scattered as a digest.
    private static func hash(_ number: Int) -> Int { number &* 0x1E37_79B9_7F4A_7C15 }

    // MARK: Writing

    private static func writes(_ harness: Harness, _ size: Int) async throws -> [Figure] {
        let folder = try TemporaryFolder()
        let bare = try BareSQLite(in: folder)
        let payload = [UInt8](DiskStore.entry(1, size).payload.bytes)
        let stores = try await [
            DiskStore(settings("none")), DiskStore(settings("process")), DiskStore(settings("power")),
            DiskStore(#"{ "use": "file", "capacity": "100GB" }"#),
            DiskStore(settings("process", capacity: "\(size / 1_000 * 1_000)KB")),
        ]
        var rows = 0
        func put(_ count: Int, group: Int) throws {
            for start in stride(from: 0, to: count, by: group) {
                if group > 1 { try bare.run("BEGIN IMMEDIATE") }
                for _ in start..<min(count, start + group) {
                    rows += 1
                    try bare.put(hash(rows), payload)
                }
                if group > 1 { try bare.run("COMMIT") }
            }
        }
        let (none, process, power, file, full) = (stores[0], stores[1], stores[2], stores[3], stores[4])
        let group = "disk put \(title(size))"
        // Cases that wait for the disk are measured apart, because they slow those that come next.
        var figures = try await harness.compare(
            group,
            [
                Case("bare rows in groups of 16", slice: slice) { try put($0, group: 16) },
                Case("bare rows, one by one", slice: slice) { try put($0, group: 1) },
                Case("process, 16 callers", slice: slice) { try await process.put($0, size, callers: 16) },
                Case("process, one caller", slice: slice) { try await process.put($0, size) },
                Case("none, one caller", slice: slice) { try await none.put($0, size) },
                Case("process, 16 callers, with eviction", slice: slice) {
                    try await full.put($0, size, callers: 16)
                },
                Case("store file, one caller", slice: slice) { try await file.put($0, size) },
            ])
        figures += try await harness.compare(
            group,
            [
                Case("power, one caller", slice: slice) { try await power.put($0, size) },
                Case("power, 16 callers", slice: slice) { try await power.put($0, size, callers: 16) },
                Case("Data.write(.atomic)", slice: slice) { count in
                    for number in 0..<count {
                        try Data(payload).write(to: URL(filePath: "\(folder.path)/\(number)"), options: .atomic)
                    }
                },
            ])
        if figures.count == 10, size == kilobyte {
            func add(_ name: String, _ value: Double, goal: Double, isLeast: Bool, unit: Figure.Unit = .times) {
                figures.append(
                    Figure(group: group, name: name, median: value, unit: unit, goal: goal, isGoalLeast: isLeast))
            }
            add(
                "process ÷ bare in groups, rows a second", figures[0].median / figures[2].median, goal: 0.6,
                isLeast: true)
            add("process ÷ bare, one by one", figures[3].median / figures[1].median, goal: 3, isLeast: false)
            add("power, rows a second, 16 callers ÷ one", figures[7].median / figures[8].median, goal: 4, isLeast: true)
            let times = try await process.put(20_000, size, callers: 16).sorted()
            add("process, 16 callers, p50", times[times.count / 2], goal: 5_000_000, isLeast: false, unit: .nanoseconds)
            add(
                "process, 16 callers, p99", times[times.count * 99 / 100], goal: 5_000_000, isLeast: false,
                unit: .nanoseconds)
        }
        for store in stores { await store.close() }
        return figures
    }

    // MARK: Reading

    private static func reads(_ harness: Harness, _ size: Int) async throws -> [Figure] {
        let count = min(10_000, 200_000_000 / size)
        let bare = try BareSQLite(in: TemporaryFolder())
        let payload = [UInt8](DiskStore.entry(1, size).payload.bytes)
        try bare.run("BEGIN")
        for number in 1...count { try bare.put(hash(number), payload) }
        try bare.run("COMMIT")
        let (sqlite, file) = try await (
            DiskStore(settings("none")), DiskStore(#"{ "use": "file", "capacity": "100GB" }"#)
        )
        try await sqlite.put(count, size)
        try await file.put(min(count, 2_000), size)
        await sqlite.close()
        let again = try await DiskStore(settings("process"), in: sqlite.folder)
        let goals: [Int: Double] = [kilobyte: 25_000, 100 * kilobyte: 60_000]
        let figures = try await harness.compare(
            "disk get \(title(size))",
            [
                Case("bare rows") { times in
                    for number in 0..<times {
                        keep(try bare.get(hash(number * 7_919 % count + 1)))
                    }
                },
                Case("sqlite, after reopening", goal: goals[size]) { try await again.get($0, of: count) },
                Case("file") { try await file.get($0, of: min(count, 2_000)) },
            ])
        for store in [again, file] { await store.close() }
        return figures
    }

    // MARK: Opening

    private static func reopening(_ count: Int) async throws -> [Figure] {
        note("writing \(count) entries …")
        let store = try await DiskStore(settings("none"))
        try await store.put(count, kilobyte)
        await store.close()
        let before = residentSize() ?? 0
        let clock = SystemWorld()
        let start = clock.uptime
        let again = try await DiskStore(settings("process"), in: store.folder)
        try await again.get(1, of: count)
        let opened = clock.uptime - start
        try await again.get(20_000, of: count)
        let size = max(0, (residentSize() ?? 0) - before)
        let large = DiskStore.entry(count + 1, 10_000_000)
        _ = try await again.store.write(large, for: DiskStore.key(count + 1))
        await again.close()
        let third = try await DiskStore(settings("process"), in: store.folder)
        var times: [Double] = []
        for _ in 0..<50 {
            let start = clock.uptime
            _ = try await third.store.read(DiskStore.key(count + 1))
            times.append(Double((clock.uptime - start).nanoseconds))
        }
        await third.close()
        let group = "disk reopen, \(count) entries"
        return [
            Figure(
                group: group, name: "first read after opening", median: Double(opened.nanoseconds),
                goal: count == 1_000_000 ? 50_000_000 : nil),
            Figure(
                group: group, name: "memory", median: Double(size), unit: .bytes,
                goal: count == 1_000_000 ? 60_000_000 : nil),
            Figure(group: group, name: "first read of 10 MB", median: times[0], goal: 5_000_000),
            Figure(
                group: group, name: "later reads of 10 MB", median: times.dropFirst().sorted()[24], goal: 60_000),
        ]
    }
}
