public import LarderFoundation
public import Larder

/// The results of scenario files.
///
/// ```swift
/// @Test func policiesPassTheirScenarios() throws {
///     let report = try ScenarioReport(of: ["Policies/Scenarios"], policies: URL(filePath: "Policies"))
///     #expect(report.isPassed, "\(report)")
/// }
/// ```
public struct ScenarioReport: Sendable {
    package struct Result: Sendable {
        var path: String
        package var file: ScenarioFile
        var scenario: Scenario
        var history: StoryHistory

        var isPassed: Bool { history.answers.allSatisfy { mismatches(of: $0).isEmpty } }
    }

    package var files = 0
    /// The problems of policies and of scenario files.
    package var problems: [Problem] = []
    /// The problems of policies that no named file of scenarios is about.
    package var otherProblems: [Problem] = []
    package var results: [Result] = []
    package var histories: [RecordScenarioResult] = []
    /// The kinds of situations that are played, for each policy; nil if they were not asked for.
    package var coverage: [ScenarioCoverage]?

    /// Whether all expectations are met, and all files are sound.
    public var isPassed: Bool {
        results.allSatisfy(\.isPassed) && histories.allSatisfy(\.isPassed)
            && !problems.contains { $0.severity == .error }
    }

    /// Reads all files, then plays the scenarios that are sound. Blocks the thread.
    ///
    /// - Parameters:
    ///   - paths: scenario files, and folders of them.
    ///   - policies: the folder of the policies.
    ///   - registry: the plugins that the policies may name.
    ///   - environment: the values of `${NAME}` in policies.
    ///   - progress: called before each scenario with the share that was played, and its resource.
    /// - Throws: `PolicyError` if a policy cannot be composed, for example because a system library is missing; the error
    ///   of a temporary folder that cannot be made. Problems of files are part of the report.
    public init(
        of paths: [String], policies: URL, registry: Registry = .standard, environment: [String: String] = [:],
        progress: (_ share: Double, _ resource: String) -> Void = { _, _ in }
    ) throws {
        let reader = PolicyReader(registry: registry, folder: policies.relativePath, environment: environment)
        let resources: [String]
        let checked: [PolicyReader.CheckResult]
        do throws(PolicyError) {
            resources = try reader.names().map { String($0.dropLast(".json".count)) }
            checked = try reader.checkAll()
        } catch {
            problems = error.problems
            return
        }
        let verdicts = paths.flatMap { ScenarioFiles(registry: registry, resources: resources).judge($0) }
        files = verdicts.count { $0.path.hasSuffix(".json") }
        // Files that are named need only the policies that they are about. With a folder, all policies must be sound.
        let isNamed = !paths.isEmpty && paths.allSatisfy { $0.hasSuffix(".json") }
        let needed = Set(verdicts.compactMap(\.file?.resource))
        for (resource, result) in zip(resources, checked) where result.policy == nil {
            if isNamed, !needed.contains(resource) {
                otherProblems += result.problems
            } else {
                problems += result.problems
            }
        }
        let isComposable = problems.isEmpty
        problems += verdicts.flatMap(\.problems)
        let known = Dictionary(checked.compactMap(\.policy).map { ($0.resource, $0) }) { first, _ in first }
        for verdict in verdicts {
            guard let file = verdict.file, let policy = known[file.resource] else { continue }
            problems += file.scenarios.flatMap { $0.parameterProblems(policy, file: verdict.path) }
        }
        // If a needed policy is not sound, none is composed.
        guard isComposable else { return }
        let count = verdicts.reduce(0) { $0 + ($1.file?.scenarios.count ?? 0) + ($1.file?.histories.count ?? 0) }
        for verdict in verdicts {
            guard let file = verdict.file else { continue }
            for scenario in file.scenarios {
                progress(Double(results.count + histories.count) / Double(count), file.resource)
                let player = try StoryPlayer(
                    withOwnStoresOf: file.resource, in: policies, registry: registry, environment: environment,
                    canFail: scenario.needsFaultyStores)
                let history = try player.history(of: scenario.story, aftermath: scenario.aftermath)
                results.append(Result(path: verdict.path, file: file, scenario: scenario, history: history))
            }
            guard let policy = known[file.resource], !file.histories.isEmpty else { continue }
            let player = try RecordStoryPlayer(
                policy, registry: registry, files: policies.relativePath, environment: environment)
            if let gap = RecordProof.gaps(try player.tryOut().dialect).first {
                problems.append(Problem(gap, file: verdict.path, path: "$.histories"))
                continue
            }
            for history in file.histories {
                progress(Double(results.count + histories.count) / Double(count), file.resource)
                histories.append(try RecordScenarioResult(history, of: file, at: verdict.path, by: player))
            }
        }
    }

    // MARK: For people

    /// A line for each scenario. Those that failed are drawn; with `draws`, all are.
    package func lines(draws: Bool) -> [String] {
        var lines: [String] = []
        var path: String?
        for result in results {
            if path != result.path {
                path = result.path
                lines.append("\(result.path): \(result.file.about ?? result.file.resource)")
            }
            let position = result.scenario.position
            let name = result.scenario.name
            lines.append(result.isPassed ? "  ✓ \(name)" : "  ✗ \(name)  [line \(position.line)]")
            if draws || !result.isPassed { lines += result.timeline.map { "      " + $0 } }
        }
        for result in histories {
            if path != result.path {
                path = result.path
                lines.append("\(result.path): \(result.file.about ?? result.file.resource)")
            }
            lines += result.lines(draws: draws)
        }
        return lines.map(\.withoutControls)
    }

    package var summary: String {
        let (count, failed) = (results.count + histories.count, failedCount)
        var text = "\(counted(count, one: "scenario")) in \(counted(files, one: "file"))"
        text += ": \(count - failed) passed, \(failed) failed"
        let errors = problems.count { $0.severity == .error }
        return errors == 0 ? text : text + ", \(counted(errors, one: "error"))"
    }

    private var failedCount: Int { results.count { !$0.isPassed } + histories.count { !$0.isPassed } }

    // MARK: For programs

    package var json: JSON {
        let count = results.count + histories.count
        return .present([
            "files": .int(files), "scenarios": .int(count), "passed": .int(count - failedCount),
            "failed": .int(failedCount), "problems": .list(problems.map(\.json)),
            "results": .list(results.map(\.json) + histories.map(\.json)),
            "coverage": coverage.map { .list($0.map(\.json)) },
        ])
    }
}

extension ScenarioReport: CustomStringConvertible {
    /// The problems, a line for each scenario with a drawing of those that failed, and the numbers of both.
    public var description: String {
        (problems.map(\.description) + lines(draws: false) + [summary]).joined(separator: "\n")
    }
}

extension Scenario {
    /// The time after the last answer in which background work can end, so that a drawing shows its end. It is longer if
    /// an expectation is about that work.
    fileprivate var aftermath: Duration {
        let expected = expectations.compactMap { $0 }
        let isLong = expected.contains { $0.callsAtMost != nil || $0.freshWithin != nil }
        return isLong ? .seconds(6 * 3_600) + (expected.compactMap(\.freshWithin).max() ?? .zero) : .seconds(120)
    }
}

extension ScenarioReport.Result {
    fileprivate var json: JSON {
        [
            "file": .string(path), "line": .int(scenario.position.line), "resource": .string(file.resource),
            "name": .string(scenario.name), "passed": .bool(isPassed),
            "timeline": .list(timeline.map(JSON.string)),
            "answers": .list(history.answers.map(json)),
        ]
    }

    private func json(_ answer: StoryHistory.Answer) -> JSON {
        let ending: JSON =
            switch answer.ending {
            case .cancelled, nil: [:]
            case .value(let loaded):
                [
                    "value": JSON(payload: loaded.value), "freshness": .string(loaded.freshness.rawValue),
                    "source": .string("\(loaded.source)"), "age_ms": loaded.age?.milliseconds ?? .null,
                    "fellBack": .bool(loaded.fellBack),
                ]
            case .error(let error):
                ["error": .string("\(error.code)"), "status": error.status.map(JSON.int) ?? .null]
            }
        return .joined(
            [
                "at_ms": answer.start.milliseconds, "takes_ms": answer.took?.milliseconds ?? .null,
                "calls": .int(history.calls(by: answer)),
            ],
            ending,
            [
                "trail": .list(answer.steps.map { .string($0.description) }), "steps": .list(answer.steps.map(\.json)),
                "mismatches": .list(mismatches(of: answer).map(\.json)),
            ])
    }
}

extension Mismatch {
    fileprivate var json: JSON {
        [
            "key": .string(key), "expected": .string(expected), "actual": .string(actual),
            "line": .int(position?.line ?? 0), "column": .int(position?.column ?? 0),
        ]
    }
}

extension Duration {
    fileprivate var milliseconds: JSON { .number((inSeconds * 1_000_000).rounded() / 1_000) }
}
