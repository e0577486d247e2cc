import Larder
import LarderCommand

/// Plays scenarios of how any cache should behave, as `ConformRun --help` explains.
@main struct ConformRun {
    static func main() async {
        await LarderCommand.main(.conform)
    }
}

extension Command {
    static let conform = Command(
        name: "ConformRun", isProgram: true,
        summary: "Plays scenarios of how a cache should behave and lists the differences.",
        operands: "FILE",
        details: """
            FILE holds scenarios in JSON, in the format \(ConformFile.format). A scenario names a strategy in neutral words,
            the copies in the store, the behaviour of the origin, the requests, and the expected results. Each becomes a
            policy and is played in simulated time. Its line of output says 'pass', 'fail' with the differences, or
            'unsupported' with the reason.

            The words of a row, apart from its id, level, family, title and source:

            \(ConformWords.lines.joined(separator: "\n"))

            A row with any other word is unsupported.

            Differences in rows marked 'choice' are reported, not counted as failures. Neither are unsupported rows of the
            families \(ConformRow.laterFamilies.joined(separator: ", ")).
            """,
        options: [.json, .format(["text", "json"])],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            guard arguments.operands.count == 1 else { throw UsageError(message: "ConformRun takes one FILE") }
            let file = try ConformFile(path: arguments.operands[0])
            for name in file.unknown {
                terminal.note("\(arguments.operands[0]): warning: unknown key \(name.quoted) has no effect")
            }
            let progress = Progress(terminal, "ConformRun")
            let report = ConformReport(
                file.rows.enumerated().map { number, row in
                    progress.show(Double(number) / Double(file.rows.count), row.id)
                    return ConformReport.Line(row, registry)
                })
            progress.end()
            if format == "json" {
                terminal.print(report.json.text())
            } else {
                for line in report.lines { terminal.print(line.text) }
                terminal.print(report.sum)
            }
            return report.isPassed
        })
}

/// The results of the rows of a file.
struct ConformReport {
    enum Verdict: String, CaseIterable {
        case pass, fail, unsupported
    }

    struct Line {
        var row: ConformFile.Row
        var verdict: Verdict
        /// The differences, or the reason why the row is not supported.
        var reason: String?

        /// Plays a row.
        init(_ row: ConformFile.Row, _ registry: Registry) {
            self.row = row
            do {
                let scenario = try row.scenario.get()
                let differences = scenario.differences(in: try ConformPlay.play(scenario, registry: registry))
                verdict = differences.isEmpty ? .pass : .fail
                reason = differences.isEmpty ? nil : differences.joined(separator: "; ")
            } catch let error as Unsupported {
                verdict = .unsupported
                reason = error.reason
            } catch let error as PolicyError {
                verdict = .unsupported
                reason = "no policy says this: " + error.problems.map(\.message).joined(separator: "; ")
            } catch {
                verdict = .fail
                reason = "\(error)"
            }
        }

        var text: String { row.id + " " + verdict.rawValue + (reason.map { " " + $0 } ?? "") }

        var isFailure: Bool {
            guard row.level == .must else { return false }
            return verdict == .fail || (verdict == .unsupported && !ConformRow.laterFamilies.contains(row.family))
        }
    }

    var lines: [Line]

    init(_ lines: [Line]) {
        self.lines = lines
    }

    var isPassed: Bool { !lines.contains(where: \.isFailure) }

    private func count(_ level: ConformFile.Row.Level, _ verdict: Verdict) -> Int {
        lines.filter { $0.row.level == level && $0.verdict == verdict }.count
    }

    /// The number of rows for each level and verdict.
    var sum: String {
        ConformFile.Row.Level.allCases.map { level in
            let counts = Verdict.allCases.map { "\(count(level, $0)) \($0.rawValue)" }
            return "\(level.rawValue): " + counts.joined(separator: ", ")
        }.joined(separator: "; ")
    }

    var json: JSON {
        let rows = lines.map { line -> JSON in
            [
                "id": .string(line.row.id), "level": .string(line.row.level.rawValue),
                "family": .string(line.row.family), "result": .string(line.verdict.rawValue),
                "reason": line.reason.map(JSON.string) ?? .null,
            ]
        }
        let counts = ConformFile.Row.Level.allCases.map { level in
            JSON.Member(
                level.rawValue,
                .object(Verdict.allCases.map { JSON.Member($0.rawValue, .int(count(level, $0))) }))
        }
        return .object([JSON.Member("rows", .list(rows))] + counts)
    }
}
