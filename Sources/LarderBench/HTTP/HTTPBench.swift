#if canImport(Glibc) || canImport(Musl)
    import Foundation
    import Larder
    import LarderSimulation
    import LarderSystem

    /// The cost of a request through a whole policy, beside a loop that only calls libcurl, and the memory and the
    /// descriptors that many requests leave behind.
    enum HTTPBench {
        /// The reason why the benchmark ended early.
        struct Failure: Error, CustomStringConvertible {
            var description: String
        }

        /// The number of requests in flight in the crowded cases.
        private static let crowd = 100

        static func figures(_ harness: Harness) async throws -> [Figure] {
            let server = try ServerProcess()
            let bare = try BareCurl()
            let whole = try await Resources(origin: #"{ "use": "http", "url": "\#(server.url)/{id}" }"#)
            let graph = try await Resources(origin: #""constant-answer""#)
            var figures = try await harness.compare(
                "http",
                [
                    Case("libcurl alone") { count in
                        for number in 0..<count { keep(try bare.get("\(server.url)/\(number % 1_000)")) }
                    },
                    Case("whole policy") { count in try await whole.load(0..<count) },
                    Case("whole policy without HTTP", goal: 25_000) { count in try await graph.load(0..<count) },
                    Case("whole policy, \(crowd) in flight", goal: 50_000) { count in
                        try await whole.load(count, inFlight: crowd)
                    },
                ])
            if figures.count == 4 {
                figures.append(
                    Figure(
                        group: "http", name: "whole policy ÷ libcurl alone",
                        median: figures[1].median / figures[0].median, unit: .times, goal: 2.5))
            }
            guard harness.only.isEmpty || "http: memory left by requests".contains(harness.only) else { return figures }
            let isQuick = harness.rounds < Harness().rounds
            figures += try await leaks(whole, server: server, bare: bare, count: isQuick ? 10_000 : 100_000)
            return figures
        }

        /// An origin that answers at once, on the thread of its caller.
        private struct ConstantAnswer: Loader {
            let answer: Data

            var keepsLimit: Bool { true }

            func load(_ call: Call) async throws -> Loaded<Entry> {
                Loaded(Entry(Data("/\(call.request.parameters["id"] ?? "") ".utf8) + answer))
            }
        }

        /// Makes many requests, and checks that each was made once and that nothing is left behind.
        private static func leaks(
            _ resources: Resources, server: ServerProcess, bare: BareCurl, count: Int
        ) async throws -> [Figure] {
            var figures: [Figure] = []
            // The connection for the questions to the server is there before anything is counted.
            _ = try server.requests(bare)
            for (name, total, width) in [("in sequence", count, 1), ("at once", 10_000, 10_000)] {
                // Memory that the first requests of a kind take is kept for later ones. The allocator needs a few rounds.
                for _ in 0..<(width == 1 ? 1 : 4) { try await resources.load(10_000, inFlight: width) }
                let descriptors = openDescriptors()
                var growth = Int.max
                // A leak grows each time. The allocator takes more memory only now and then.
                for _ in 0..<(width == 1 ? 1 : 3) {
                    let (before, size) = (try server.requests(bare), residentSize() ?? 0)
                    try await resources.load(total, inFlight: width)
                    let made = try server.requests(bare) - before
                    guard made == total else {
                        throw Failure(description: "\(total) loads \(name) made \(made) requests")
                    }
                    growth = min(growth, max(0, (residentSize() ?? 0) - size))
                }
                guard openDescriptors() <= descriptors else {
                    throw Failure(description: "\(total) loads \(name) left descriptors open")
                }
                figures.append(
                    Figure(
                        group: "http", name: "memory left by \(total) requests \(name)", median: Double(growth),
                        unit: .bytes, goal: 4_000_000))
            }
            figures.append(try await cancellations(resources, count: count / 20))
            return figures
        }

        /// Cancels loads at random moments, and checks that the others are answered and that nothing is left behind.
        private static func cancellations(_ resources: Resources, count: Int) async throws -> Figure {
            try await resources.loadAndCancel(count / 5)
            let (descriptors, size) = (openDescriptors(), residentSize() ?? 0)
            try await resources.loadAndCancel(count)
            // Cancelled requests close their connections, so that fewer may be open now.
            guard openDescriptors() <= descriptors + connectionsPerHost else {
                throw Failure(description: "\(count) cancelled loads left descriptors open")
            }
            return Figure(
                group: "http", name: "memory left by \(count) cancellations",
                median: Double(max(0, (residentSize() ?? 0) - size)), unit: .bytes, goal: 4_000_000)
        }

        /// The largest number of connections to a server that a policy without a setting of its own opens.
        private static let connectionsPerHost = 6

        private static func openDescriptors() -> Int { (try? Disk.list("/proc/self/fd").count) ?? 0 }

        /// The server in a process of its own, so that it takes no time and no descriptors of this one.
        final class ServerProcess {
            let url: String
            private let process = Process()
            private let input = Pipe()

            init() throws {
                let output = Pipe()
                process.executableURL = URL(filePath: CommandLine.arguments[0])
                process.arguments = ["http", "--serve"]
                (process.standardInput, process.standardOutput) = (input, output)
                try process.run()
                let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
                url = "http://127.0.0.1:" + port.trimmingCharacters(in: .whitespacesAndNewlines)
            }

            // It ends when its input does.
            deinit { try? input.fileHandleForWriting.close() }

            /// The number of requests that the server has answered.
            fileprivate func requests(_ curl: BareCurl) throws -> Int {
                let text = String(decoding: try curl.get(url + EchoServer.countPath), as: UTF8.self)
                guard let count = Int(text) else { throw Failure(description: "the server did not count its requests") }
                return count
            }
        }

        /// Serves until the input ends. Returns the exit code.
        static func serve() -> Int32 {
            guard let server = EchoServer() else { return 1 }
            // Not with `print`, which keeps the line in a buffer.
            FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
            while readLine() != nil {}
            return 0
        }

        /// A resource that asks its origin for every load, with all the layers that an app has.
        private struct Resources {
            private let pantry: Pantry
            private let items: Resource<Data>

            init(origin: String) async throws {
                let policy = #"""
                    { "resource": "items", "origin": \#(origin),
                      "around": [{ "use": "breaker", "failures": 5, "rest": "30s" },
                                 { "use": "retry", "retries": 2, "backoff": "1s" },
                                 { "use": "timeout", "after": "2m" }],
                      "strategy": { "use": "network-first", "patience": "1m" },
                      "validators": [{ "use": "age", "fresh": "0s", "onError": "7d" }],
                      "store": { "use": "memory", "capacity": "20MB" } }
                    """#
                var registry = Registry.standard
                let answer = Data(repeating: UInt8(ascii: "x"), count: 1_000)
                try registry.register(
                    .origin("constant-answer", "Answers at once.") { _ in ConstantAnswer(answer: answer) })
                pantry = try await Pantry(
                    policies: ["items": policy], registry: registry, cache: TemporaryFolder().url, environment: [:])
                items = pantry.resource("items")
            }

            /// Loads items one after the other, and checks that each load got its own answer.
            func load(_ numbers: Range<Int>) async throws {
                for number in numbers {
                    let value = try await items.load(["id": "\(number % 1_000)"]).value
                    guard value.starts(with: "/\(number % 1_000) ".utf8) else {
                        throw Failure(description: "a load got the answer to another one")
                    }
                }
            }

            /// Begins loads and cancels some at random moments, until so many were cancelled. The others must be answered.
            func loadAndCancel(_ count: Int) async throws {
                var cancelled = 0
                while cancelled < count {
                    let tasks = (0..<50).map { number in
                        (number, Task { try await items.load(["id": "\(number)"]).value })
                    }
                    for (_, task) in tasks where Bool.random() {
                        for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
                        task.cancel()
                        cancelled += 1
                    }
                    for (number, task) in tasks {
                        switch await task.result {
                        case .success(let value) where value.starts(with: "/\(number) ".utf8): break
                        case .failure(is CancellationError) where task.isCancelled: break
                        default: throw Failure(description: "a load beside cancelled ones was not answered")
                        }
                    }
                }
            }

            /// Loads items, so many at a time. No two loads in flight share a call.
            func load(_ count: Int, inFlight width: Int) async throws {
                let width = max(1, min(width, count))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<width {
                        group.addTask {
                            for number in 0..<(count / width + (lane < count % width ? 1 : 0)) {
                                let id = "\(lane)-\(number % 1_000)"
                                let value = try await items.load(["id": id]).value
                                guard value.starts(with: "/\(id) ".utf8) else {
                                    throw Failure(description: "a load got the answer to another one")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
#endif
