import Foundation
import Larder

/// The hit ratio of the memory store on recorded traffic, for each eviction.
struct HitRatioBench {
    static let usage = """
        usage: larder-bench hitratio --trace FILE [--trace FILE …] --capacity N[,N…] --eviction NAME|all
                                     [--weights SPEC] [--json]

          --trace     a file with one key a line, plain or compressed by gzip (FILE.gz)
          --capacity  the number of entries in the store; with --weights, of entries of mean size
          --eviction  the eviction: \(names.joined(separator: ", ")), or all
          --weights   the sizes of payloads by key: pareto:1.2,1KB,1MB (tail, least, most); without it all are equal
          --json      write the result as JSON

        Each request reads the store. An entry that is missing is inserted. Nothing is loaded from an origin.
        """

    static var names: [String] { Registry.standard[.eviction].map(\.name) }

    private let traces: [String]
    private let capacities: [Int]
    private let evictions: [String]
    private let weights: WeightSpec?

    init(_ arguments: BenchArguments) throws {
        for name in ["--trace", "--capacity", "--eviction"] where !arguments.has(name) {
            throw Misuse(message: "\(name) is missing")
        }
        traces = arguments.all("--trace")
        capacities = try arguments.all("--capacity").last.map(Self.capacities) ?? []
        evictions = try arguments.all("--eviction").last.map(Self.evictions) ?? []
        weights = try arguments.all("--weights").last.map { text in
            guard let spec = WeightSpec(text) else {
                throw Misuse(message: "'\(text)' is no --weights; expected one such as pareto:1.2,1KB,1MB")
            }
            return spec
        }
    }

    private static func capacities(_ text: String) throws -> [Int] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard let number = Int(part), (1...1_000_000_000).contains(number) else {
                throw Misuse(message: "'\(part)' is no --capacity; expected a whole number from 1 to 1000000000")
            }
            return number
        }
    }

    private static func evictions(_ text: String) throws -> [String] {
        if text == "all" { return names }
        return try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard names.contains(String(part)) else {
                throw Misuse(
                    message: "unknown eviction '\(part)'; expected one of \(names.joined(separator: ", ")) or all")
            }
            return String(part)
        }
    }

    /// Runs the command line: 0 when it went well, 2 for wrong arguments, 1 for anything else.
    static func main(_ arguments: [String]) async -> Int32 {
        if arguments.isEmpty {
            print(usage)
            return 2
        }
        do {
            let arguments = try BenchArguments(
                arguments, options: ["--trace", "--capacity", "--eviction", "--weights"])
            let bench = try HitRatioBench(arguments)
            var rows: [HitRatio] = []
            for trace in bench.traces { rows += try await bench.run(BenchTraceFile(path: trace), named: trace) }
            print(arguments.has("--json") ? JSON.list(rows.map(\.json)).text() : HitRatio.text(rows))
            return 0
        } catch {
            return BenchArguments.exitCode(of: error, in: "hitratio", usage: usage)
        }
    }

    private func run(_ trace: BenchTraceFile, named name: String) async throws -> [HitRatio] {
        let keys = trace.keys.map { Key(resource: "trace", parameters: ["key": $0]) }
        // Payloads are slices of one buffer, so that a store of gigabytes needs no memory for them.
        let bytes = Data(count: Int(weights?.most ?? 0))
        let entries = trace.keys.map { key in Entry(weights.map { bytes.prefix($0.bytes(of: key)) } ?? bytes) }
        let mean = Double(entries.reduce(0) { $0 + $1.weight }) / Double(entries.count)
        var rows: [HitRatio] = []
        for capacity in capacities {
            for eviction in evictions {
                let room = Int((mean * Double(capacity)).rounded())
                let store = try Self.store(eviction, room: room, entries: weights == nil ? capacity : nil)
                var row = HitRatio(
                    trace: (name as NSString).lastPathComponent, eviction: eviction, capacity: capacity,
                    isWeighted: weights != nil)
                for request in trace.requests {
                    let (key, entry) = (keys[Int(request)], entries[Int(request)])
                    row.asked(bytes: entry.weight, isHit: try await Self.ask(store, key: key, entry: entry))
                }
                rows.append(row)
            }
        }
        return rows
    }

    private static func ask(_ store: any Store, key: Key, entry: Entry) async throws -> Bool {
        if store.peek(key, if: { _ in true }) != nil { return true }
        if try await store.read(key) != nil { return true }
        _ = try await store.write(entry, for: key)
        return false
    }

    private static func store(_ eviction: String, room: Int, entries: Int?) throws -> any Store {
        let count = entries.map { #", "entries": \#($0)"# } ?? ""
        let text = #"{ "use": "memory", "capacity": "\#(max(1, room))B", "eviction": "\#(eviction)"\#(count) }"#
        let node = try JSONParser.parse(SourceText(name: "hitratio", bytes: Array(text.utf8)))
        let reading = PartReader(registry: .standard, folder: "", file: "hitratio")
        guard let part = SettingType.part(.store).read(node, reading) else {
            throw Misuse(message: reading.problems.map { "\($0)" }.joined(separator: "\n"))
        }
        let context = StoreContext(resource: "trace", world: SystemWorld(), cacheDirectory: "")
        return try part.store(in: context)
    }
}
