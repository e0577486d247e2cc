import Dispatch
import Larder
import LarderSystem

/// Runs one case a number of times and nothing else, so that a profiler can count its instructions.
///
/// The case runs on the main thread, without suspension. Its preparation does not depend on the number of times. The
/// difference between two runs is therefore the cost of the case alone.
enum LoopBench {
    static let usage = """
        usage: larder-bench loop CASE --times N
               larder-bench loop --list [--json]

          --times  how many times the case runs, from 0 to 1000000000
          --list   list the cases
          --json   list the cases as JSON

        Runs CASE N times and nothing else. A profiler such as callgrind counts the instructions. The difference between
        two runs, divided by the difference of N, is the cost of the case once. The preparation varies a little from run to
        run, so the difference of N should be large: 100,000 for a hit, a million for the cases of the memory store.

          valgrind --tool=callgrind larder-bench loop composed-hit --times 20000
          valgrind --tool=callgrind larder-bench loop composed-hit --times 120000
        """

    /// A case. `prepare` makes everything it needs, and returns the work that runs N times.
    struct Loop: Sendable {
        var name: String
        var summary: String
        var prepare: @Sendable () async throws -> @Sendable (Int) -> Void
    }

    static let loops: [Loop] =
        [
            Loop(name: "nothing", summary: "an empty loop") { { count in for number in 0..<count { keep(number) } } },
            Loop(name: "bare-store", summary: "a peek into the memory store") { try await HitCases().bareStore },
            Loop(name: "clock", summary: "a clock read") { try await HitCases().clock },
            Loop(name: "hand-wired", summary: "four hand-written layers over the store") {
                try await HitCases().handWired
            },
            Loop(name: "composed-hit", summary: "a hit through a composed graph") { try await HitCases().composed },
            Loop(name: "composed-hit-unmeasured", summary: "a hit through a composed graph, metrics off") {
                try await HitCases().unmeasured
            },
            Loop(name: "metrics", summary: "counting a hit") { try await HitCases().metrics },
            Loop(name: "new-request-hit", summary: "making a request and hitting it through a composed graph") {
                let resource = try await HitCases().bench.resource
                return { count in for _ in 0..<count { keep(resource.answer(resource.request(["id": "42"]))) } }
            },
            Loop(name: "literal-load", summary: "an awaited hit of a request that is written as a literal") {
                let resource = try await HitCases().bench.resource
                return looping { _ in keep(try await resource.load(["id": "42"])) }
            },
            Loop(name: "origin", summary: "a call of the closure that misses ask") {
                let request = Request("feed")
                return looping { _ in keep(try await BenchPantry.answer(Call(request))) }
            },
            Loop(name: "miss", summary: "a load that misses, asks a closure and saves its answer") {
                let (bench, requests) = try await BenchPantry.missing()
                return looping { keep(try await bench.resource.load(requests[$0 & 1_023])) }
            },
        ]
        + memory(UInt64.self, name: "u64", about: "a 64-bit key")
        + memory(ShortText.self, name: "text", about: "a 20-byte text")
        + memory(Key.self, name: "key", about: "a request's key") + [
            Loop(name: "typed-hit", summary: "a hit of 1 KB of JSON, kept decoded") {
                try await TypedBench.hit(of: 1_000)
            },
            Loop(name: "compose", summary: "reading and composing a folder of 1,000 policies") {
                try PolicyBench.composing(1_000)
            },
            Loop(name: "reload", summary: "reloading a folder of 1,000 policies of which one changed") {
                try await PolicyBench.reloading(1_000)
            },
        ] + SyncBench.loops

    /// Returns a loop of asynchronous work, which blocks its thread.
    static func looping(
        _ work: @escaping @Sendable (Int) async throws -> Void
    ) -> @Sendable (Int) -> Void {
        { count in
            do {
                try waiting { for number in 0..<count { try await work(number) } }
            } catch {
                note("larder-bench loop: \(error)")
            }
        }
    }

    private static func memory<Key: BenchKey>(_ key: Key.Type, name: String, about: String) -> [Loop] {
        [
            Loop(name: "get-hit-\(name)", summary: "a find in the memory store's table, by \(about)") {
                try MemoryBench.loop(.hits, of: key)
            },
            Loop(name: "read-through-\(name)", summary: "a find and, on a miss, an insertion, by \(about)") {
                try MemoryBench.loop(.readThrough, of: key)
            },
        ]
    }

    // MARK: The command

    /// Runs the command line: 0 if it went well, 2 for wrong arguments, 1 for anything else.
    static func main(_ arguments: [String]) -> Int32 {
        do {
            if arguments.contains("--list") {
                list(isJSON: try BenchArguments(arguments, flags: ["--list", "--json"]).has("--json"))
                return 0
            }
            let (loop, times) = try parse(BenchArguments(arguments, flags: [], options: ["--times"], operands: 1))
            let work = try waiting(for: loop.prepare)
            work(times)
            return 0
        } catch {
            return BenchArguments.exitCode(of: error, in: "loop", usage: usage)
        }
    }

    private static func list(isJSON: Bool) {
        if isJSON {
            let rows = loops.map {
                JSON.object([.init("case", .string($0.name)), .init("about", .string($0.summary))])
            }
            print(JSON.list(rows).text())
        } else {
            let width = loops.map(\.name.count).max() ?? 0
            for loop in loops {
                print(loop.name + String(repeating: " ", count: width - loop.name.count) + "  " + loop.summary)
            }
        }
    }

    private static func parse(_ arguments: BenchArguments) throws -> (Loop, Int) {
        guard let name = arguments.operands.first else { throw Misuse(message: "CASE is missing") }
        guard let loop = loops.first(where: { $0.name == name }) else {
            let names = loops.map(\.name).joined(separator: ", ")
            throw Misuse(message: "unknown case '\(name)'; expected one of \(names)")
        }
        guard let times = try arguments.number("--times", in: 0...1_000_000_000) else {
            throw Misuse(message: "--times is missing")
        }
        return (loop, times)
    }

    /// Runs asynchronous work and blocks this thread until it has ended.
    private static func waiting<Value: Sendable>(
        for work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task {
            do {
                let value = try await work()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
