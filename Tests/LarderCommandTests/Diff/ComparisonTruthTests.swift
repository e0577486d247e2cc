import LarderFoundation
import Larder
import Testing

@testable import LarderSimulation
@testable import LarderStories

/// The lines of a comparison are played at one place of each range. They must hold at every other place, too.
@Suite struct ComparisonTruthTests {
    private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

    /// A random policy of `prices`.
    private static func policy(_ random: inout SeededGenerator) throws -> SimulatedPolicy {
        func pick<Item>(_ items: [Item]) -> Item { items[random.roll(items.count)] }
        let strategy = pick([
            "cache-first", "network-first", "stale-while-revalidate", "race", "cache-only", "network-only",
        ])
        let patience = pick(["", #", "patience": "700ms""#, #", "patience": "1s""#])
        let after = pick(["2s", "3s"])
        let retries = pick([0, 1, 2])
        let fresh = pick(["0s", "5m", "10m"])
        let window = pick(["", #", "whileRevalidating": "30m""#])
        let error = pick(["1h", "6h"])
        let store = pick([#""memory""#, #"{ "use": "file", "limit": "500ms" }"#])
        let text = """
            { "resource": "prices", "origin": { "use": "sample", "payload": "catalog" },
              "around": [{ "use": "retry", "retries": \(retries), "backoff": "200ms" }, { "use": "timeout", "after": "\(after)" }],
              "strategy": { "use": "\(strategy)"\(patience) },
              "validators": [{ "use": "age", "fresh": "\(fresh)"\(window), "onError": "\(error)" }], "store": \(store) }
            """
        let reader = try PolicyReader(
            registry: .standard, texts: ["prices": text.replacing(#""retries": 0"#, with: #""retries": 1"#)],
            files: nil,
            environment: [:])
        let policy = try #require(reader.check("prices.json").policy)
        return try SimulatedPolicy(policy, registry: .standard, files: nil, environment: [:])
    }

    /// A random place of a range that is as far from its end as a load may last.
    private static func place(_ range: AgeRange, _ random: inout SeededGenerator) -> Duration? {
        let length = ((range.to ?? range.from + .seconds(86_400)) - range.from).nanoseconds / 1_000_000 - 60_000
        return length > 0 ? range.from + .milliseconds(random.roll(Int(length))) : nil
    }

    private static func place(_ behaviour: OriginBehaviour, _ random: inout SeededGenerator) -> OriginBehaviour? {
        guard case .answers(let from, let to) = behaviour else { return behaviour }
        let length = ((to ?? from + .seconds(10)) - from).nanoseconds / 1_000_000
        if length < 2 { return nil }
        let middle = from + .milliseconds(1 + random.roll(Int(length) - 1))
        // The middle of a range that is two milliseconds long.
        return .answers(from: middle - .milliseconds(1), to: middle + .milliseconds(1))
    }

    @Test(arguments: 1...(isSlow ? 200 : 4)) func differenceHoldsEverywhereInItsRanges(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (old, new) = (try Self.policy(&random), try Self.policy(&random))
        let grid = SituationGrid([old, new])
        let players = (old: try StoryPlayer(old), new: try StoryPlayer(new))
        func change(_ situation: Story, isOutage: Bool) throws -> OutcomeChange? {
            OutcomeChange(
                from: Outcome(try players.old.play(situation), in: situation),
                to: Outcome(try players.new.play(situation), in: situation), isOutage: isOutage)
        }
        for (cell, situation) in grid.situations(under: .none) {
            var other = situation
            if let range = grid.ages[cell.age] {
                guard let age = Self.place(range, &random) else { continue }
                other.copy?.age = age
            }
            guard let behaviour = Self.place(grid.origins[cell.origin], &random) else { continue }
            if case .answers = behaviour {
                other.origin = behaviour.situation(first: nil, hanging: .init(.hangs)).origin
            }
            let isOutage = grid.isOutage(cell)
            #expect(
                try change(situation, isOutage: isOutage) == change(other, isOutage: isOutage),
                "\(seed): \(situation.inWords), but \(other.inWords)")
        }
    }

    @Test func rangesAreNamedAsFewAsPossible() {
        let waits = [Duration.seconds(1), .seconds(4)]
        let all = OriginBehaviour.all(between: waits)
        #expect(all.inWords(of: all) == "whatever the origin does")
        #expect([all[0], all[1]].inWords(of: all) == "the origin answers within 4s")
        #expect([all[0], all[2]].inWords(of: all) == "the origin answers within 1s or after more than 4s")
        #expect([all[2], .hangs].inWords(of: all) == "the origin answers after more than 4s or never")
        #expect([.offline, .fails].inWords(of: all) == "offline or the origin fails at once")
        #expect([.confirms].inWords(of: all) == "the origin says that the copy is unchanged")
        let ages: [AgeRange?] = [nil] + AgeRange.all(between: [.seconds(60), .seconds(3_600)])
        #expect(ages.inWords(of: ages) == "")
        #expect(Array(ages.dropFirst()).inWords(of: ages) == "any copy")
        #expect([ages[0], ages[3]].inWords(of: ages) == "no copy or copy of 1h or older")
        #expect([ages[2]].inWords(of: ages) == "copy 1m to 1h old")
    }
}
