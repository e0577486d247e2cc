import LarderFoundation
import Dispatch
import Larder

/// Measures Larder against itself and against other caches, as ratios in one run.
@main struct LarderBench {
    /// A group of measurements.
    struct Group: Sendable {
        var name: String
        var summary: String
        var run: @Sendable (Harness) async throws -> [Figure]
    }

    #if canImport(Glibc) || canImport(Musl)
        static let groups =
            portableGroups + [
                Group(
                    name: "http",
                    summary: "a request through a whole policy beside libcurl alone, and what many leave behind",
                    run: { try await HTTPBench.figures($0) })
            ]
    #else
        static let groups = portableGroups
    #endif

    private static let portableGroups: [Group] = [
        Group(
            name: "path", summary: "a hit through a composed graph beside the bare store, metrics on and off",
            run: { try await PathBench.figures($0) }),
        Group(
            name: "memory", summary: "the table of the memory store beside a dictionary and NSCache",
            run: { try await MemoryBench.figures($0) }),
        Group(
            name: "policy", summary: "many resources: reading, composing, changing one, and the memory of each",
            run: { try await PolicyBench.figures($0) }),
        Group(
            name: "typed", summary: "a decoded hit beside decoding each time",
            run: { try await TypedBench.figures($0) }),
        Group(
            name: "disk", summary: "the stores on a disk beside bare SQLite and files, and opening large ones",
            run: { try await DiskBench.figures($0) }),
        Group(
            name: "sync", summary: "records that are changed offline beside bare SQLite with the same indexes",
            run: { try await SyncBench.figures($0) }),
        Group(
            name: "prove", summary: "proving the promises of the policies in the folder Policies",
            run: { try await ProofBench.figures($0) }),
    ]

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        #if canImport(Glibc) || canImport(Musl)
            // The benchmark starts this in a process of its own.
            if arguments == ["http", "--serve"] { exit(HTTPBench.serve()) }
        #endif
        // Profilers run it: it stays on the main thread, and no main actor waits around it.
        if arguments.first == "loop" { exit(LoopBench.main(Array(arguments.dropFirst()))) }
        // Detached from the main actor, which would add two changes of threads to each wait.
        Task.detached { exit(await run(arguments)) }
        dispatchMain()
    }

    /// Runs the command line and returns the exit code: 0 if it went well, 2 for wrong arguments, 1 for anything else.
    private static func run(_ words: [String]) async -> Int32 {
        var arguments = words[...]
        #if canImport(Glibc) || canImport(Musl)
            // The benchmark starts this in a process of its own.
            if words.count == 3, words[..<2] == ["sync", "--write"] { return await SyncWriter.serve(words[2]) }
        #endif
        switch arguments.first {
        case "evictions": return EvictionBench.main(Array(arguments.dropFirst()))
        case "hitratio": return await HitRatioBench.main(Array(arguments.dropFirst()))
        case "story": return StoryBench.main(Array(arguments.dropFirst()))
        case "crowd": return await CrowdBench.main(Array(arguments.dropFirst()))
        default: break
        }
        let isJSON = arguments.contains("--json")
        var harness = Harness()
        if arguments.contains("--quick") { harness.rounds = 7 }
        arguments.removeAll { $0 == "--json" || $0 == "--quick" }
        if let place = arguments.firstIndex(of: "--only"), place + 1 < arguments.endIndex {
            harness.only = arguments[place + 1]
            arguments.removeSubrange(place...place + 1)
        }
        let wanted = arguments.first ?? "--help"
        let chosen = groups.filter { wanted == "all" || wanted == $0.name }
        guard arguments.count <= 1, !chosen.isEmpty else {
            let list = groups.map { "  \($0.name)  \($0.summary)" }.joined(separator: "\n")
            let usage = "usage: larder-bench all|GROUP [--only TEXT] [--quick] [--json]\n\n"
            let others = """
                  crowd      20,000 waiting loads beside as many bare tasks; see larder-bench crowd --help
                  story      ten minutes with an outage at 30,000 loads a second; see larder-bench story --help
                  hitratio   the hit ratio of the memory store on recorded traffic; see larder-bench hitratio --help
                  evictions  hit ratios below the best of ten known evictions; see larder-bench evictions --help
                  loop       one case and nothing else, for profilers; see larder-bench loop --help
                """
            let help = usage + list + "\n" + others
            if wanted == "--help" { print(help) } else { note(help) }
            return wanted == "--help" ? 0 : 2
        }
        var figures: [Figure] = []
        do {
            for group in chosen {
                note("measuring \(group.name) …")
                figures += try await group.run(harness)
            }
        } catch {
            note("larder-bench: \(error)")
            return 1
        }
        if figures.isEmpty {
            let names = harness.names.withLock { $0 }
            let list = names.isEmpty ? "" : "; there are:\n  " + names.joined(separator: "\n  ")
            note("larder-bench: no case contains '\(harness.only)'" + list)
            return 2
        }
        if isJSON {
            print(JSON.list(figures.map(\.json)).text())
        } else {
            print(table([["group", "case", "median", "least", "ratio", "goal", ""]] + figures.map(row), atLeft: 2))
        }
        return 0
    }

    private static func row(_ figure: Figure) -> [String] {
        let goal = figure.goal.map { (figure.isGoalLeast ? "≥ " : "≤ ") + text($0, figure.unit) }
        let isMet = figure.isMet.map { $0 ? "met" : "missed" }
        return [
            figure.group, figure.name, text(figure.median, figure.unit),
            figure.least.map { text($0, figure.unit) } ?? "",
            figure.ratio.map { "\(($0 * 100).rounded() / 100)" } ?? "", goal ?? "", isMet ?? "",
        ]
    }

    private static func text(_ value: Double, _ unit: Figure.Unit) -> String {
        switch unit {
        case .nanoseconds where value >= 10_000: Duration.nanoseconds(Int64(value)).brief
        case .nanoseconds: "\((value * 10).rounded() / 10) ns"
        case .bytes: "\((value / 100).rounded() / 10) KB"
        case .times where value < 100: "\((value * 100).rounded() / 100) ×"
        case .times: "\(Int(value)) ×"
        case .percent: "\((value * 10).rounded() / 10) %"
        }
    }
}

/// Writes a line about progress or an error to the error output.
func note(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(2, bytes, bytes.count)
}
