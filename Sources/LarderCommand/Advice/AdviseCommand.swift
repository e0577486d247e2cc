import LarderFoundation
import Larder
import LarderReports

extension Command {
    static let advise = Command(
        name: "advise", summary: "Proposes changes to policies from metrics dumps.",
        operands: "DUMP …",
        details: """
            Dumps count what other settings would have brought: copies that were refused only for their age, calls that were
            answered soon after the patience ended, calls that found their copy unchanged, refreshes that nobody used,
            copies that a full store had evicted too soon, and prefetched copies that were never used. This command turns the counts into at most three pieces of advice
            for each resource, each with the effect that it would have had, and with a JSON Patch (RFC 6902) for the policy.
            Advice that would break a promise of the policy is not proposed, and says so.

            DUMP is a file, a folder or '-', as for 'larder report'. Advice is about the revision in effect.

            To check advice against recorded requests before following it:
              larder advise dumps --json --output advice.json
              larder simulate --trace requests.jsonl --origin latency=80ms,down=10m-2h --advice advice.json
            """,
        options: [
            .policies, .json, .format(["text", "json"]),
            Option("since", value: "TIME", help: "Leave out everything before: 2h, 7d, 2026-01-05 or 2026-01-05T14:00"),
            Option("output", value: "FILE", help: "Write the advice to this file"), .lifetime,
        ],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            if arguments.operands.isEmpty { throw UsageError(message: "advise takes at least one DUMP") }
            guard let report = try Report.read(arguments, registry: registry, terminal: terminal) else { return false }
            let advice = report.sections.flatMap { $0.advice }
            let policies = policies(of: advice, arguments: arguments, registry: registry, terminal: terminal)
            let progress = Progress(terminal, "advise")
            let proof = AdviceProof(
                registry: registry, environment: arguments.environment, folder: arguments.policies.shortPath,
                lifetimes: try arguments.lifetimes)
            var judged: [JudgedAdvice] = []
            for (number, one) in advice.enumerated() {
                let accepted = judged.filter { $0.objection == nil && $0.advice.resource == one.resource }.map(\.advice)
                judged.append(
                    JudgedAdvice(one, of: policies[one.resource], beside: accepted, by: proof) {
                        progress.show((Double(number) + $0) / Double(advice.count), one.resource)
                    })
            }
            progress.end()
            let text: String
            if format == "json" {
                text = AdviceFile.json(judged) { policies[$0.resource]?.patch($0.changes) }.text() + "\n"
            } else {
                text = lines(report, judged: judged, policies: policies).joined(separator: "\n") + "\n"
            }
            try terminal.write(text, asAsked: arguments)
            return report.isWhole
        })

    private static func lines(
        _ report: Report, judged: [JudgedAdvice], policies: [String: AdvisedPolicy]
    ) -> [String] {
        var lines: [String] = []
        for section in report.sections {
            let own = judged.filter { $0.advice.resource == section.name }
            if own.isEmpty {
                // The prefetches of the app itself are not in the policy.
                let waste = PrefetchFigures(section.total)?.sentence.map { "; \($0): the app may prefetch less" } ?? ""
                lines.append("\(section.name.printable): no advice; \(section.reasonWithoutAdvice)\(waste)")
            }
            for judged in own {
                let advice = judged.advice
                lines.append("\(section.name.printable): \(advice.sentence)")
                if let objection = judged.objection {
                    lines.append("  not proposed: \(objection.printable)")
                    continue
                }
                lines += judged.gaps.map { "  may break promises: not completely proved, because \($0.printable)" }
                lines += advice.lines.map { "  " + $0 }
                if let patch = policies[advice.resource]?.patch(advice.changes) {
                    lines.append("  patch: " + patch.text(indented: false))
                }
            }
        }
        return lines
    }

    /// The policies that advice is about, as far as the folder has them. Notes each one that is missing, or whose plugins
    /// and values are not those of the dumps.
    private static func policies(
        of advice: [Advice], arguments: Arguments, registry: Registry, terminal: Terminal
    ) -> [String: AdvisedPolicy] {
        let reader = arguments.reader(registry, arguments.policies.shortPath)
        var policies: [String: AdvisedPolicy] = [:]
        for (name, revision) in Dictionary(
            advice.map { ($0.resource, $0.revision) }, uniquingKeysWith: { one, _ in one }
        )
        .sorted(by: { $0.key < $1.key }) where PolicyReader.isName(name) {
            guard let policy = try? AdvisedPolicy(reader, file: name + ".json") else {
                terminal.note(
                    "there is no sound policy '\(name.printable)' in \(arguments.folder), so its advice is not proved and has no "
                        + "patch")
                continue
            }
            let changes = advice.filter { $0.resource == name }.flatMap(\.changes)
            if !policy.fits(changes) {
                terminal.note(
                    "\(arguments.folder)/\(name.printable).json is not the policy that the advice is about (revision "
                        + "\(revision.printable)), so the advice is not proved and has no patch")
                continue
            }
            policies[name] = policy
        }
        return policies
    }
}

extension Report.Section {
    /// The reason why there is no advice, in words.
    fileprivate var reasonWithoutAdvice: String {
        guard let revision = revisions.last(where: \.isCurrent) ?? revisions.last else {
            return total.reasonWithoutLoads
        }
        if revision.policy == nil { return "no dump contains the policy of revision \(revision.title)" }
        return "no other value of a setting would have helped enough loads"
    }
}
