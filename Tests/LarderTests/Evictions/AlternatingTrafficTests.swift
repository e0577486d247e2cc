import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// The hit ratio of `adaptive` for traffic that changes to a loop larger than the store, and back.
///
/// The ratios that it must reach are those of the best of ten known evictions for the same requests. `larder-bench
/// evictions` measures other traffic of this kind.
@Suite struct AlternatingTrafficTests {
    private static let capacity = 100

    /// Returns the hit ratio in percent.
    private func ratio(_ requests: [Int]) throws -> Double {
        var store = PlainStore(try Evictions.named("adaptive"), capacity: Self.capacity)
        for key in requests { store.ask(key) }
        #expect(store.complaint == nil)
        return 100 * Double(store.hits) / Double(requests.count)
    }

    /// Alternates between a part and a loop, beginning and ending with the part. No key belongs to two of them.
    private func alternating(
        _ part: (inout SeededGenerator) -> [Int], loop: Int, rounds: Int, times: Int
    ) -> [Int] {
        var dice = SeededGenerator(seed: 7)
        var requests: [Int] = []
        for turn in 0..<times {
            requests += part(&dice).map { turn * 100_000 + $0 }
            requests += (0..<loop * rounds).map { -1 - turn * 1_000 - $0 % loop }
        }
        return requests + part(&dice).map { times * 100_000 + $0 }
    }

    /// Three of four requests repeat one of the last 150.
    private func recent(_ dice: inout SeededGenerator) -> [Int] {
        var requests: [Int] = []
        for number in 0..<2_000 {
            requests.append(number < 150 || dice.roll(4) == 0 ? number : requests[number - 1 - dice.roll(150)])
        }
        return requests
    }

    /// Three of four keys return once within 160 requests, and never again.
    private func twice(_ dice: inout SeededGenerator) -> [Int] {
        var due: [Int: Int] = [:]
        return (0..<4_000).map { number in
            if let key = due.removeValue(forKey: number) { return key }
            guard dice.roll(4) > 0 else { return number }
            var time = number + 1 + dice.roll(160)
            while due[time] != nil { time += 1 }
            due[time] = number
            return number
        }
    }

    @Test func loopBetweenRecentKeysLosesLittle() throws {
        let found = try ratio(alternating(recent, loop: 130, rounds: 20, times: 4))
        #expect(found > 62.24 - 1.5, "the best is LIRS")
    }

    @Test func loopBetweenKeysThatReturnOnceLosesLittle() throws {
        let found = try ratio(alternating(twice, loop: 400, rounds: 5, times: 1))
        #expect(found > 33.73 - 1.5, "the best is FIFO")
    }

    @Test func loopTwiceAsLongAsStoreIsRemembered() throws {
        let found = try ratio(alternating(recent, loop: 220, rounds: 20, times: 4))
        // A sample that forgets the loop before it returns gives two points more than the best, W-TinyLFU.
        #expect(found > 34.14 + 6)
    }

    @Test func newLeaderIsFoundSoonAfterChange() {
        var ranking = Ranking(count: 2)
        func record(_ found: Int, until change: Int) -> Int? {
            (1...2_000).first { number in
                ranking.record(found)
                if number % 100 == 0 { ranking.fade() }
                return ranking.decide() && ranking.leader == change
            }
        }
        #expect(record(0b01, until: 1) == nil, "the first is the leader from the beginning")
        let needed = record(0b10, until: 1)
        #expect(needed.map { $0 > 100 && $0 < 350 } == true)
    }

    @Test func keysThatAllFindDoNotChangeLeader() {
        var ranking = Ranking(count: 2)
        for _ in 0..<5 { ranking.record(0b10) }
        let isFiveEnough = ranking.decide()
        #expect(!isFiveEnough, "five results may be chance")
        for _ in 0..<1_000 {
            ranking.record(0b11)
            ranking.record(0b00)
        }
        let doAllOrNoneCount = ranking.decide()
        #expect(!doAllOrNoneCount)
        for _ in 0..<5 { ranking.record(0b10) }
        let isTenEnough = ranking.decide()
        #expect(isTenEnough && ranking.leader == 1)
    }
}
