import Larder

extension Command {
    static let conform = Command(
        name: "conform", summary: "Plays scenarios of how a cache should behave, and says where Larder differs.",
        operands: "FILE",
        details: """
            FILE holds scenarios in JSON, of the format \(ConformFile.format): a strategy in neutral words, what is stored,
            what the origin does, what callers ask, and all that must come of it. Each becomes a policy and is played in
            simulated time. A line for each says 'pass', 'fail' and in what, or 'unsupported' and why. A choice is what one
            product does: to differ there is no failure. Nor is it one not to support what belongs to
            \(ConformRow.laterFamilies.joined(separator: ", ")).
            """,
        options: [.format(["text", "json"])],
        run: { arguments, registry, terminal in
            let format = try arguments.format(["text", "json"])
            guard arguments.operands.count == 1 else { throw UsageError(message: "which file of scenarios?") }
            let file = try ConformFile(path: arguments.operands[0])
            for name in file.unknown {
                terminal.note("\(arguments.operands[0]): warning: \(name.quoted) is not known and not heeded")
            }
            let progress = Progress(terminal, "conform")
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

/// What came of the rows of a file.
struct ConformReport {
    enum Verdict: String, CaseIterable {
        case pass, fail, unsupported
    }

    struct Line {
        var row: ConformFile.Row
        var verdict: Verdict
        /// The difference, or why the row is not supported.
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

    /// How many there are of each.
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
