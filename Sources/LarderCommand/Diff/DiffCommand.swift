import Larder
import LarderSimulation
import LarderStories

extension Command {
    static let diff = Command(
        name: "diff", summary: "Shows what users would notice of a change of policies.",
        operands: "OLD [NEW]",
        details: """
            OLD and NEW are policy files, folders of policies, or Git revisions of either, such as HEAD~1:Policies. HEAD~1
            alone means the folder of --policies in that revision. Without NEW, OLD is compared with the folder of
            --policies. The same situations are played through both policies in simulated time. Each line tells a situation
            and its outcome with the old and with the new policy. If they differ only in their layout, it says so.
            """,
        options: [
            .policies, .json, .format(["text", "markdown", "json"]),
            Option("all", help: "Show all lines, not only the \(DiffReport.mostLines) that matter most to users"),
            Option("no-prove", help: "Do not compare promises, which takes longest"),
            .lifetime, .assume,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "markdown", "json"])
            guard (1...2).contains(arguments.operands.count) else {
                throw UsageError(message: "diff takes OLD and NEW, or OLD alone")
            }
            let sources = try (arguments.operands + [arguments.folder]).prefix(2).map {
                try PolicySource($0, policies: arguments.folder)
            }
            let lifetimes = try arguments.lifetimes
            let read = try sources.map {
                try $0.policies(registry, arguments.environment, lifetimes: lifetimes)
            }
            arguments.explainUnusedLifetimes(read.flatMap { $0.all.map(\.policy) }, terminal)
            let progress = Progress(terminal, "diff")
            let report = try DiffReport(from: read[0], to: read[1], proves: !arguments.has("no-prove")) {
                progress.show($0, $1)
            }
            progress.end()
            let most = arguments.has("all") ? Int.max : DiffReport.mostLines
            switch format {
            case "json": terminal.print(report.json.text())
            case "markdown": for line in report.markdown(most) { terminal.print(line) }
            default: for line in report.lines(most) { terminal.print(line.withoutControls) }
            }
            return true
        })
}
