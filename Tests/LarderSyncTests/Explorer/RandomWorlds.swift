import Larder
import LarderSimulation

@testable import LarderSync

/// Larger worlds and histories, drawn at random from a seed.
struct RandomWorlds {
    var devices = 3
    var records = 5
    var steps = 40

    /// The result of a history.
    struct Report: CustomStringConvertible {
        var rules: ModelRules
        var history: [ModelAction] = []
        var violation: Violation?
        var description: String {
            "\(rules)\n" + history.map { "  \($0)" }.joined(separator: "\n") + "\n\(violation.map { "\($0)" } ?? "")"
        }
    }

    func rules(_ random: inout SeededGenerator) -> ModelRules {
        func chance(_ random: inout SeededGenerator) -> Bool { random.roll(2) == 0 }
        var rules = ModelRules(name: "random", scripts: [])
        rules.ids = chance(&random) ? .client : .server
        rules.hasVersions = chance(&random)
        rules.versionsIncrease = rules.hasVersions && chance(&random)
        rules.knowsKeys = random.roll(4) > 0
        rules.answersWithRecord = chance(&random)
        rules.conflictsTellRecord = chance(&random)
        rules.pull = [.all, .since, .token][random.roll(3)]
        rules.pageSize = 1 + random.roll(2)
        rules.pagesAreOfOneTime = rules.pull != .token && random.roll(4) == 0
        rules.hasStamps = chance(&random)
        let conflicts: [any ConflictRule] = [
            MergeFields(), ServerWins(), ClientWins(), AskApp(), LastWriteWins(), LastWriteWins(isAboutRecords: true),
        ]
        rules.conflict = conflicts[random.roll(conflicts.count)]
        rules.unions = chance(&random)
        rules.merges = chance(&random)
        rules.onReject = chance(&random) ? .revert : .keep
        rules.clocks = (0..<devices).map { _ in [0, 86_400_000, -86_400_000][random.roll(3)] }
        rules.initial = random.roll(records)
        rules.faults = [.loseRequest, .loseAnswer, .double, .delay, .later, .signedOut]
        (rules.mostFaults, rules.mostCrashes, rules.mostLogouts) = (random.roll(5), random.roll(3), random.roll(2))
        rules.raisesEdition = chance(&random)
        rules.scripts = (0..<devices).map { _ in (0..<(1 + random.roll(5))).map { _ in write(&random) } }
        return rules
    }

    private func write(_ random: inout SeededGenerator) -> ModelWrite {
        let (record, other) = (random.roll(records), random.roll(records))
        switch random.roll(14) {
        case 0, 1, 2: return .create(record)
        case 3: return .createReferring(record, to: other)
        case 4: return .createBad(record)
        case 5: return .refer(record, to: other)
        case 6: return .delete(record)
        case 7: return .put(record)
        case 8: return .add(record, ["b", "c"][random.roll(2)])
        case 9: return .remove(record, ["a", "b"][random.roll(2)])
        case 10: return .setBad(record)
        case 11: return .undo(record)
        default: return .set(record, ["x", "y"][random.roll(2)])
        }
    }

    /// Plays the history of a seed.
    func play(_ seed: UInt64, _ plant: (inout PlannerUnderTest) -> Void = { _ in }) -> Report {
        var random = SeededGenerator(seed: seed)
        var report = Report(rules: rules(&random))
        var planner = PlannerUnderTest(report.rules.planner())
        plant(&planner)
        var world = ModelWorld(report.rules, planner)
        do throws(Violation) {
            for _ in 0..<steps {
                let actions = world.actions()
                if actions.isEmpty { break }
                // Pulls can always happen, so other actions are drawn more often.
                var action = actions[random.roll(actions.count)]
                if case .ask = action { action = actions[random.roll(actions.count)] }
                report.history.append(action)
                try world.perform(action)
            }
            try world.judgeRest { report.history.append($0) }
        } catch {
            report.violation = error
        }
        return report
    }
}
