import Foundation
import Larder
import LarderEditions

/// Measures what editions cost, and prints it. Nothing is judged here.
struct Figures {
    let folder: URL
    private let clock = ContinuousClock()

    init(folder: URL) { self.folder = folder }

    func measure() async throws {
        try await measureSwaps()
        try await measureStarts()
    }

    /// Swaps the editions 1 and 2 of all policies, with their signatures verified each time, while loads go on.
    private func measureSwaps() async throws {
        let pantry = try await ChannelRun.open(folder.appending(path: "large"))
        guard let editions = pantry.editions, await editions.poll() else { return ChannelRun.say("no channel") }
        for name in pantry.resources { _ = try await pantry.resource(name).load() }
        func swaps(_ count: Int) async throws -> [Duration] {
            var times: [Duration] = []
            for number in 0..<count {
                let start = clock.now
                try await editions.pin(number % 2 + 1)
                times.append(clock.now - start)
            }
            return times
        }
        let quiet = try await swaps(40)
        Self.say("verify, compose and swap \(pantry.resources.count) policies", quiet)
        let loads = Task { try await Self.load(pantry, times: 200, each: 100) }
        let busy = try await swaps(40)
        let result = try await loads.value
        Self.say("the same under load", busy)
        ChannelRun.say(
            "loads meanwhile: \(result.answered) in \(Self.spelled(result.time)) "
                + "(\(Int(Double(result.answered) / result.time.seconds)) a second), \(result.failed) failed")
        try await editions.pin(nil)
        await pantry.close()
    }

    /// Begins `each` loads every 10 ms.
    private static func load(
        _ pantry: Pantry, times: Int, each: Int
    ) async throws -> (answered: Int, failed: Int, time: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let resources = pantry.resources.map { pantry.resource($0) }
        var failed = 0
        for turn in 0..<times {
            for number in 0..<each where (try? await resources[(turn + number) % resources.count].load()) == nil {
                failed += 1
            }
            try await clock.sleep(until: start + .milliseconds(10 * (turn + 1)))
        }
        return (times * each - failed, failed, clock.now - start)
    }

    /// Starts with the edition that is kept, and with the same policies and no section `channel`.
    private func measureStarts() async throws {
        let kinds = ["small", "small-without-channel"]
        let first = try await ChannelRun.open(folder.appending(path: "small"))
        guard let editions = first.editions, await editions.poll(), editions.running != nil else {
            return ChannelRun.say("no edition for the start")
        }
        await first.close()
        var times = [[Duration]](repeating: [], count: kinds.count)
        for _ in 0..<100 {
            for (index, kind) in kinds.enumerated() {
                let start = clock.now
                let pantry = try await ChannelRun.open(folder.appending(path: kind))
                times[index].append(clock.now - start)
                await pantry.close()
            }
        }
        Self.say("start with an edition of 3 policies that is kept", times[0])
        Self.say("start with the same policies and no channel", times[1])
    }

    private static func say(_ what: String, _ times: [Duration]) {
        let sorted = times.sorted()
        ChannelRun.say(
            "\(what): median \(spelled(sorted[sorted.count / 2])), fastest \(spelled(sorted[0])), "
                + "slowest \(spelled(sorted[sorted.count - 1])), of \(sorted.count)")
    }

    private static func spelled(_ time: Duration) -> String { "\((time.seconds * 1e5).rounded() / 100) ms" }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
