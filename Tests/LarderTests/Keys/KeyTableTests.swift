import LarderSimulation
import Testing

@testable import LarderSystem
@testable import LarderCore

/// The records of keys: how long they last, and which of them are forgotten.
@Suite struct KeyTableTests {
    private static let count = 100_000

    private static func key(_ number: Int) -> Key { Key(resource: "feed", parameters: ["id": "\(number)"]) }

    private static func isResting(_ number: Int, in keys: KeyTable, at uptime: Duration) -> Bool {
        keys.rest(of: key(number), base: .seconds(5), at: uptime) != nil
    }

    @Test func oldestRecordsAreForgottenWhenThereAreTooMany() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            for number in 0..<Self.count { keys.originFailed(Self.key(number), in: world) }
            let resting = (0..<Self.count).filter { Self.isResting($0, in: keys, at: world.uptime) }
            #expect(resting.count <= 32_768 && resting.count > 10_000)
            // Each shard forgets its own oldest ones.
            #expect(resting.allSatisfy { $0 > Self.count / 2 })
            #expect((Self.count - 1_000..<Self.count).allSatisfy { Self.isResting($0, in: keys, at: world.uptime) })
        }
    }

    @Test func hiddenCopyStaysHiddenInAnOutageOfManyKeys() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            for number in 0..<100 { keys.hide(Self.key(number), because: .gone) }
            for number in 100..<Self.count { keys.originFailed(Self.key(number), in: world) }
            #expect((0..<100).allSatisfy { keys.hiddenReason(of: Self.key($0)) != nil })
        }
    }

    @Test func capacityIsTheSameAfterManyLoadsWereUnderWay() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            var tickets = (0..<Self.count).map { keys.begin(Self.key($0)) }
            tickets.removeAll()
            for number in 0..<Self.count { keys.originFailed(Self.key(number), in: world) }
            #expect(keys.all { $0.key }.count <= 32_768)
        }
    }

    @Test func recordIsKeptWhileItsLoadIsUnderWay() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            let ticket = keys.begin(Self.key(0))
            for number in 0..<Self.count { keys.originFailed(Self.key(number), in: world) }
            #expect(Self.isResting(0, in: keys, at: world.uptime) && !Self.isResting(1, in: keys, at: world.uptime))
            withExtendedLifetime(ticket) {}
        }
    }

    @Test func answerEndsEveryRecordThatSaysNothingElse() throws {
        try SimulatedWorld().run { world in
            let keys = KeyTable()
            for number in 0..<100 { keys.originFailed(Self.key(number), in: world) }
            #expect(keys.hasFailures && keys.all { $0.key }.count == 100)
            for number in 0..<100 { keys.originAnswered(Self.key(number)) }
            #expect(!keys.hasFailures && keys.all { $0.key }.isEmpty)
        }
    }

    @Test func hiddenCopyMakesOnlyItsOwnShardUnusual() {
        let keys = KeyTable()
        #expect(keys.isUsual)
        keys.hide(Self.key(0), because: .gone)
        #expect(!keys.isUsual && keys.mayBeUnusual(Self.key(0)))
        let others = (1...1_000).filter { keys.mayBeUnusual(Self.key($0)) }
        #expect(others.count < 300)
        keys.unhide(Self.key(0))
        #expect(keys.isUsual && keys.all { $0.key }.isEmpty)
    }

    @Test func stateOfAStoreIsForgottenWithTheStore() {
        let keys = KeyTable()
        let (first, second) = (keys.number(), keys.number())
        let request = Request("feed", fields: ["Accept-Language": "de"])
        for store in [first, second] {
            _ = Variations(in: keys, of: store).add(
                ["accept-language"], for: request, generation: "\(store)")
        }
        let key = Variations(in: keys, of: second).entryKey(of: request)
        #expect(key != Variations(in: keys, of: first).entryKey(of: request))
        keys.forget(store: first)
        #expect(!Variations(in: keys, of: first).knows(request.key))
        #expect(Variations(in: keys, of: second).entryKey(of: request) == key)
    }
}
