import Foundation
import Larder
import LarderSimulation
import LarderSystem

/// The cost of each of thousands of waiting loads, beside the cost of a task that waits for a signal.
struct CrowdBench {
    static let usage = """
        usage: larder-bench crowd [--waiting N] [--json]

          --waiting  the number of loads that wait at a time (default: 20000)
          --json     write the result as JSON

        Measures bare tasks, loads that join one flight, and loads with a flight each. The policy is like feed's:
        network-first with patience, retry, timeout, and memory over files. Each crowd has a process of its own, so that none
        reuses the memory of another.
        """

    /// A kind of waiting task.
    enum Crowd: String, CaseIterable {
        case bare = "bare tasks"
        case joined = "one flight"
        case apart = "a flight each"
    }

    /// The cost of a crowd.
    struct Cost: Codable {
        /// The bytes of memory for each, when all wait.
        var bytes: Double
        /// The seconds until all wait, and the seconds from the signal until all have ended.
        var gathering: Double
        var ending: Double
        /// The seconds of processor time in total.
        var cpu: Double
    }

    /// A gate that opens once, for all tasks that wait at it.
    private final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }
        private let state = Locked(State())

        var count: Int { state.withLock { $0.waiting.count } }

        func wait() async {
            await withCheckedContinuation { waiter in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(waiter) }
                    return state.isOpen
                }
                if isOpen { waiter.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
    }

    private static let policy = """
        { "resource": "feed", "origin": "gate",
          "around": [{ "use": "retry", "retries": 2, "backoff": "500ms" }, { "use": "timeout", "after": "5m" }],
          "strategy": { "use": "network-first", "patience": "1m" },
          "validators": [{ "use": "age", "fresh": "0s", "whileRevalidating": "10m", "onError": "7d" }, "checksum"],
          "store": { "use": "tiered", "tiers": [{ "use": "memory", "capacity": "50MB" },
                                                { "use": "file", "capacity": "50MB", "limit": "2s" }] } }
        """

    private static func measure(_ crowd: Crowd, _ count: Int) async throws -> Cost {
        let folder = try TemporaryFolder()
        let (gate, world) = (Gate(), SystemWorld())
        var registry = Registry.standard
        try registry.register(
            .origin("gate", "Answers when it is told to.") { _ in
                await gate.wait()
                return Data("value".utf8)
            })
        let pantry = try await Pantry(
            policies: ["feed": policy], registry: registry, cache: folder.url, environment: [:], world: world)
        let feed = pantry.resource("feed")
        // The first load creates shared state, which is not measured.
        let first = Task { try await feed.load(["id": "first"]) }
        while gate.count < 1 { try await world.sleep(for: .milliseconds(1)) }
        let (before, start) = (residentSize() ?? 0, world.uptime)
        let requests = (0..<count).map { feed.request(["id": crowd == .joined ? "first" : "\($0)"]) }
        let tasks = requests.map { request in
            Task {
                if crowd == .bare { await gate.wait() } else { _ = try await feed.load(request) }
            }
        }
        func areWaiting() -> Bool {
            switch crowd {
            case .joined: feed.metrics[.coalesced] >= count
            case .bare, .apart: gate.count > count
            }
        }
        while !areWaiting() { try await world.sleep(for: .milliseconds(1)) }
        let (after, gathered) = (residentSize() ?? 0, world.uptime)
        gate.open()
        for task in tasks { try await task.value }
        let ended = world.uptime
        _ = try await first.value
        return Cost(
            bytes: Double(after - before) / Double(count), gathering: (gathered - start).inSeconds,
            ending: (ended - gathered).inSeconds, cpu: processorTime())
    }

    // MARK: The command

    static func main(_ arguments: [String]) async -> Int32 {
        do {
            let arguments = try BenchArguments(arguments, options: ["--waiting", "--alone"])
            let count = try arguments.number("--waiting", in: 1...1_000_000) ?? 20_000
            if let only = arguments.all("--alone").last.flatMap(Crowd.init) {
                print(String(decoding: try JSONEncoder().encode(try await measure(only, count)), as: UTF8.self))
                return 0
            }
            let costs = try Crowd.allCases.map { crowd in
                note("measuring \(count) times \(crowd.rawValue) …")
                return (crowd, try alone(crowd, count))
            }
            let rows = costs.map { json($0, cost: $1, count: count) }
            print(arguments.has("--json") ? JSON.list(rows).text() : text(costs))
            return 0
        } catch {
            return BenchArguments.exitCode(of: error, in: "crowd", usage: usage)
        }
    }

    /// Measures a crowd in a process of its own.
    private static func alone(_ crowd: Crowd, _ count: Int) throws -> Cost {
        #if os(macOS) || os(Linux)
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: CommandLine.arguments[0])
            process.arguments = ["crowd", "--waiting", "\(count)", "--alone", crowd.rawValue]
            process.standardOutput = output
            try process.run()
            let bytes = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return try JSONDecoder().decode(Cost.self, from: bytes)
        #else
            throw CocoaError(.featureUnsupported)
        #endif
    }

    private static func text(_ costs: [(Crowd, Cost)]) -> String {
        let rows = costs.map { crowd, cost in
            [
                crowd.rawValue, "\(Int(cost.bytes)) B", Duration.seconds(cost.gathering).brief,
                Duration.seconds(cost.ending).brief, Duration.seconds(cost.cpu).brief,
            ]
        }
        return table([["waiting", "memory of each", "until all wait", "until all end", "processor"]] + rows)
    }

    private static func json(_ crowd: Crowd, cost: Cost, count: Int) -> JSON {
        [
            "waiting": .string(crowd.rawValue), "count": .int(count), "bytes_each": .number(cost.bytes),
            "gathering_seconds": .number(cost.gathering), "ending_seconds": .number(cost.ending),
            "cpu_seconds": .number(cost.cpu),
        ]
    }
}
