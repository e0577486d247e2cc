import Foundation
import Larder
import LarderCommand
import LarderSimulation
import LarderStories
import LarderSystem

/// A random policy of records, judged in random histories that are longer than those of its proof.
struct RecordSoundness {
    private let number: UInt64
    private let histories: Int
    private let policy: RandomRecordPolicy
    private var random: SeededGenerator
    private let folder: TemporaryFolder

    init(_ number: UInt64, _ options: ProofRunOptions) throws {
        random = SeededGenerator(seed: number)
        policy = RandomRecordPolicy(&random)
        (self.number, histories) = (number, options.histories)
        folder = try TemporaryFolder()
        try folder.write(policy.json.text(), to: "notes.json")
    }

    func tally() async throws -> Tally {
        let proof = try RecordProof(of: "notes", in: folder.url, registry: .shipped)
        let kept = proof.verdicts.filter(\.isProved)
        var tally = Tally(faults: [])
        tally.refuted = proof.verdicts.count - kept.count
        tally.proved = kept.count
        tally.histories = histories
        if !proof.gaps.isEmpty { tally.faults.append("policy \(number): \(proof.gaps)") }
        if kept.isEmpty { return tally }
        let expected: [JSON.Member] = kept.map { verdict in
            JSON.Member(verdict.promise, verdict.limit.map { .string("\($0.wholeMilliseconds)ms") } ?? .bool(true))
        }
        try folder.write(file(expecting: expected).text(), to: "Random/notes.json")
        let output = Locked("")
        let terminal = Terminal { bytes in
            output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        } err: { bytes in
            output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
        }
        let arguments = ["test", "--policies", folder.path, folder.path + "/Random"]
        let code = await LarderCommand.run(arguments, registry: .shipped, environment: [:], terminal: terminal)
        if code == 0 { return tally }
        let told = Self.breaches(in: output.withLock { $0 })
        if told.isEmpty { return tally }
        tally.faults.append("policy \(number) breaks what is proved:\n\(told)\n\(policy.json.text())")
        return tally
    }

    /// Returns the histories that broke a promise, or errors. A random step may have no effect, such as a trouble after the last
    /// call: that is no breach.
    private static func breaches(in output: String) -> String {
        var (found, history): ([Substring], [Substring]) = ([], [])
        for line in output.split(separator: "\n") {
            if line.hasPrefix("  ✗") { history = [] }
            if line.contains("→ steps:") || line.hasPrefix("  ✓") { continue }
            history.append(line)
            if line.contains("→") || line.contains("error:") {
                found += history
                history = []
            }
        }
        return found.joined(separator: "\n")
    }

    /// The steps after each of which a change waits longer.
    private static let troubles: Set<RecordStory.Step> = [
        .callIsLost, .answerIsLost, .fails, .busy, .loginPage, .endsBeforeCall, .endsBeforeAnswer,
    ]

    private func file(expecting expected: [JSON.Member]) -> JSON {
        var random = random
        let all = (0..<histories).compactMap { number -> JSON? in
            let steps = (0..<2 + random.roll(7)).map { _ in random.pick(RecordStory.Step.allCases) }
            // Each trouble makes a wait longer, and a proof plays two at most. An app that has ended starts again after the step,
            // which may take a minute.
            let isDown = steps.contains(.minute) && steps.contains { $0 == .endsBeforeCall || $0 == .endsBeforeAnswer }
            let isLong = isDown || steps.count { Self.troubles.contains($0) } > 2
            let expected = expected.filter { !isLong || $0.name != "sentWithin" }
            if expected.isEmpty { return nil }
            return [
                "name": .string("history \(number)"), "steps": .list(steps.map { .string($0.rawValue) }),
                "expect": .object(expected),
            ]
        }
        return ["resource": "notes", "histories": .list(all)]
    }
}
